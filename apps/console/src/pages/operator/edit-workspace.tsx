import { Button, Modal, NumberInput, Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { Workspace, WorkspaceChange } from '../../api/operator.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';

export function EditWorkspace({ workspace, close }: { workspace: Workspace | undefined; close: () => void }) {
  return (
    <Modal
      opened={workspace !== undefined}
      onClose={close}
      title={texts.workspaces.editTitle(workspace?.name ?? '')}
    >
      {workspace && <Fields key={workspace.id} workspace={workspace} close={close} />}
    </Modal>
  );
}

const limitNames = [
  'inflight',
  'committed_spend_cents',
  'backlog',
  'runs_per_minute',
  'overdraft_cents',
] as const;

function Fields({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const queries = useQueryClient();
  const [enabled, setEnabled] = useState(workspace.enabled);
  const [reservation, setReservation] = useState(workspace.reservation);
  const [limits, setLimits] = useState(() =>
    Object.fromEntries(limitNames.map((name) => [name, workspace.limits[name].limit])),
  );
  const [addedDollars, setAddedDollars] = useState<number | string>('');
  const [note, setNote] = useState('');
  const change = useMutation({
    mutationFn: () => {
      const body: WorkspaceChange = {
        enabled,
        reservation,
        limits,
        ...(typeof addedDollars === 'number' && {
          add_credits_cents: Math.round(addedDollars * 100),
          ...(note.trim() !== '' && { note: note.trim() }),
        }),
      };
      return bodyOf(
        api.PATCH('/v2/operator/workspaces/{workspace}', {
          params: { path: { workspace: workspace.id } },
          body,
        }),
      );
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['operator', 'workspaces'] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <Switch
        label={texts.workspaces.enabled}
        description={texts.workspaces.enabledText}
        checked={enabled}
        onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
      />
      <Switch
        label={texts.workspaces.likely}
        description={texts.workspaces.likelyText}
        checked={reservation === 'likely'}
        onChange={({ currentTarget }) => setReservation(currentTarget.checked ? 'likely' : 'bound')}
      />
      <div className={classes.fields}>
        {limitNames.map((name) => {
          const isMoney = name.endsWith('_cents');
          return (
            <NumberInput
              key={name}
              label={texts.settings.limit[name].name}
              value={(limits[name] ?? 0) / (isMoney ? 100 : 1)}
              onChange={(value) =>
                setLimits((before) => ({
                  ...before,
                  [name]: Math.round(Number(value) * (isMoney ? 100 : 1)),
                }))
              }
              {...(isMoney && { prefix: '$', decimalScale: 2 })}
              min={0}
              allowDecimal={isMoney}
              thousandSeparator=","
              required
            />
          );
        })}
      </div>
      {workspace.credits_cents !== null && (
        <div className={classes.fields}>
          <NumberInput
            label={texts.workspaces.addCredits}
            description={texts.workspaces.addCreditsText}
            value={addedDollars}
            onChange={setAddedDollars}
            prefix="$"
            decimalScale={2}
            thousandSeparator=","
          />
          <TextInput
            label={texts.workspaces.note}
            description={texts.workspaces.noteText}
            value={note}
            onChange={({ currentTarget }) => setNote(currentTarget.value)}
            maxLength={500}
          />
        </div>
      )}
      {change.error && <Failure error={change.error} title={texts.parts.notDone} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.parts.cancel}
        </Button>
        <Button type="submit" loading={change.isPending}>
          {texts.workspaces.save}
        </Button>
      </div>
    </form>
  );
}
