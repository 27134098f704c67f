import { Button, Modal, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { sendTest } from '../../api/webhooks.ts';
import { useScope } from '../../api/workspace.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './delivery-detail.module.css';

/** Sends one signed event to a URL. `show` shows its delivery. */
export function TestEvent({ show }: { show: (requestId: string) => void }) {
  const [opened, { open, close }] = useDisclosure();
  const [url, setUrl] = useState('');
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: () => sendTest(url.trim()),
    onSuccess: async ({ request_id }) => {
      close();
      show(request_id);
      await queries.invalidateQueries({ queryKey: ['webhooks', 'deliveries'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sending.mutate();
  };
  if (useScope('manage') !== true) return null;
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Send size={14} aria-hidden />} onClick={open}>
        {texts.webhooks.test}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.webhooks.test}>
        <form onSubmit={submit} className={classes.form}>
          <TextInput
            label={texts.webhooks.url}
            description={texts.webhooks.testText}
            placeholder="https://your.example/webhooks"
            type="url"
            required
            data-autofocus
            maxLength={2048}
            value={url}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          {sending.error !== null && <Failure error={sending.error} title={texts.webhooks.notTested} />}
          <Button type="submit" loading={sending.isPending}>
            {texts.webhooks.send}
          </Button>
        </form>
      </Modal>
    </>
  );
}
