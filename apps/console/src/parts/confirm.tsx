import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import classes from './confirm.module.css';
import { Failure } from './failure.tsx';

interface ConfirmProps {
  /** On the button that asks, and on the one that does it. */
  label: string;
  title: string;
  /** What it will do, and whether it can be undone. */
  detail: ReactNode;
  act: () => Promise<unknown>;
  /** What is read anew then. */
  changes: QueryKey;
  /** To be told from the other rows' buttons. */
  of?: string;
  isDisabled?: boolean;
}

/** A button for what should not happen by a slip. */
export function Confirm({ label, title, detail, act, changes, of, isDisabled = false }: ConfirmProps) {
  const [opened, { open, close }] = useDisclosure();
  const queries = useQueryClient();
  const action = useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: changes });
      close();
    },
  });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        onClick={open}
        disabled={isDisabled}
        aria-label={of === undefined ? undefined : `${label} ${of}`}
      >
        {label}
      </Button>
      <Modal opened={opened} onClose={close} title={title}>
        <div className={classes.body}>
          <p>{detail}</p>
          {action.error && <Failure error={action.error} title={texts.parts.notDone} />}
          <div className={classes.buttons}>
            <Button variant="default" onClick={close} data-autofocus>
              {texts.parts.cancel}
            </Button>
            <Button color="red" loading={action.isPending} onClick={() => action.mutate()}>
              {label}
            </Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
