import { Button, Modal, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pause } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';

/** Pauses a provider, with a reason that other operators can see. */
export function PauseProvider({ provider }: { provider: string }) {
  const [opened, { open, close }] = useDisclosure();
  const [reason, setReason] = useState('');
  const queries = useQueryClient();
  const pause = useMutation({
    mutationFn: () =>
      api.POST('/v2/operator/providers/{provider}/pause', {
        params: { path: { provider } },
        body: { reason: reason.trim() },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['operator', 'providers'] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    pause.mutate();
  };
  return (
    <>
      <Button variant="default" leftSection={<Pause size={14} aria-hidden />} onClick={open}>
        {texts.providers.pause}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.providers.pauseTitle(provider)}>
        <form className={classes.form} onSubmit={submit}>
          <p>{texts.providers.pauseText}</p>
          <TextInput
            label={texts.providers.reason}
            description={texts.providers.reasonText}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            maxLength={500}
            required
            data-autofocus
          />
          {pause.error && <Failure error={pause.error} title={texts.parts.notDone} />}
          <div className={classes.buttons}>
            <Button variant="default" onClick={close}>
              {texts.parts.cancel}
            </Button>
            <Button type="submit" loading={pause.isPending} disabled={reason.trim() === ''}>
              {texts.providers.pause}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
