import { Button, Modal, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { ApiKey, RotatedKey } from '../../api/keys.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './keys-page.module.css';

const overlaps = Object.entries(texts.keys.overlaps).map(([value, label]) => ({ value, label }));

export function RotateKey({
  apiKey: { id, name },
  onRotated,
}: {
  apiKey: ApiKey;
  onRotated: (key: RotatedKey) => void;
}) {
  const [opened, { open, close }] = useDisclosure();
  const [hours, setHours] = useState<string | null>('24');
  const queries = useQueryClient();
  const rotation = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v2/keys/{key_id}/rotate', {
          params: { path: { key_id: id }, query: { keep_hours: Number(hours) } },
        }),
      ),
    onSuccess: (key) => {
      onRotated(key);
      close();
      void queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <>
      <Button variant="default" size="xs" onClick={open} aria-label={texts.keys.rotateOf(name)}>
        {texts.keys.rotate}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.keys.rotateTitle(name)}>
        <div className={classes.form}>
          <p>{texts.keys.rotateText}</p>
          <Select
            label={texts.keys.overlap}
            description={hours === '0' ? texts.keys.noOverlap : texts.keys.overlapHint}
            data={overlaps}
            value={hours}
            onChange={setHours}
            allowDeselect={false}
          />
          {rotation.error && <Failure error={rotation.error} title={texts.keys.notRotated} />}
          <div className={classes.buttons}>
            <Button variant="default" onClick={close}>
              {texts.keys.cancel}
            </Button>
            <Button loading={rotation.isPending} onClick={() => rotation.mutate()}>
              {texts.keys.rotate}
            </Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
