import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link2 } from 'lucide-react';
import type { RunDetail } from '../../api/run.ts';
import { useShare } from '../../api/shared.ts';
import { useScope } from '../../api/workspace.ts';
import { Command } from '../../parts/command.tsx';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from '../../parts/confirm.module.css';

/** Shows a run to anyone with a link, or revokes the link. Only for runs with a result, and credentials that may. */
export function ShareRun({ run }: { run: RunDetail }) {
  const [opened, { open, close }] = useDisclosure();
  const { share, revoke } = useShare(run.request_id);
  const mayManage = useScope('manage');
  if (mayManage !== true || run.outcome !== 'succeeded' || !run.result_available) return null;
  const isShared = run.shared === true;
  const problem = share.error ?? revoke.error;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Link2 size={14} aria-hidden />}
        onClick={() => {
          revoke.reset();
          share.reset();
          // Sharing a shared run returns its link.
          if (isShared) share.mutate();
          open();
        }}
      >
        {isShared ? texts.share.shared : texts.share.share}
      </Button>
      <Modal opened={opened} onClose={close} title={isShared ? texts.share.sharedTitle : texts.share.title}>
        <div className={classes.body}>
          <p>{texts.share.text}</p>
          {share.data !== undefined && <Command text={share.data.url} label={texts.share.copy} />}
          {problem !== null && <Failure error={problem} title={texts.parts.notDone} />}
          <div className={classes.buttons}>
            {share.data === undefined ? (
              <>
                <Button variant="default" onClick={close} data-autofocus>
                  {texts.parts.cancel}
                </Button>
                <Button loading={share.isPending} onClick={() => share.mutate()}>
                  {texts.share.create}
                </Button>
              </>
            ) : (
              <>
                <Button
                  variant="default"
                  color="red"
                  loading={revoke.isPending}
                  onClick={() => revoke.mutate(undefined, { onSuccess: close })}
                >
                  {texts.share.revoke}
                </Button>
                <Button onClick={close}>{texts.runs.close}</Button>
              </>
            )}
          </div>
        </div>
      </Modal>
    </>
  );
}
