import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts/index.ts';
import classes from './confirm.module.css';
import { Failure } from './failure.tsx';

interface ConfirmProps {
  /** Label of both buttons: the one that opens the dialog and the one that confirms. */
  label: string;
  title: string;
  /** Says what will happen, and whether it can be undone. */
  detail: ReactNode;
  act: () => Promise<unknown>;
  /** The query to reload afterwards. */
  changes: QueryKey;
  /** Tells the buttons of several rows apart for screen readers. */
  of?: string;
  isDisabled?: boolean;
  size?: 'xs' | 'sm';
}

/** A button that asks for confirmation before it acts. */
export function Confirm({
  label,
  title,
  detail,
  act,
  changes,
  of,
  isDisabled = false,
  size = 'xs',
}: ConfirmProps) {
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
        size={size}
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
