import { Button, Checkbox, Modal, NumberInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { OpenedWorkspace, Scope } from '../../api/operator.ts';
import { Command } from '../../parts/command.tsx';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';
import { ShownLink } from './shown-link.tsx';

const allScopes = Object.keys(texts.keys.scope) as Scope[];

/** Creates a workspace, its first key and a sign-in link, and shows the last two once. */
export function NewWorkspace({ opened, close }: { opened: boolean; close: () => void }) {
  const [made, setMade] = useState<OpenedWorkspace>();
  const end = () => {
    setMade(undefined);
    close();
  };
  return (
    <Modal
      opened={opened}
      onClose={end}
      // The key and the link are shown only once.
      closeOnClickOutside={made === undefined}
      closeOnEscape={made === undefined}
      title={made ? texts.workspaces.created(made.workspace.name) : texts.workspaces.create}
    >
      {made ? <Made made={made} close={end} /> : <Fields close={end} onCreated={setMade} />}
    </Modal>
  );
}

function Made({ made: { key, sign_in_link }, close }: { made: OpenedWorkspace; close: () => void }) {
  return (
    <div className={classes.form} role="status">
      <ShownLink link={sign_in_link} />
      <p className="dimmed">{texts.workspaces.firstKeyText}</p>
      <Command text={key.key} label={texts.keys.copyKey} />
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.workspaces.saved}
        </Button>
      </div>
    </div>
  );
}

interface FieldsProps {
  close: () => void;
  onCreated: (made: OpenedWorkspace) => void;
}

function Fields({ close, onCreated }: FieldsProps) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [dollars, setDollars] = useState<number | string>(100);
  const [scopes, setScopes] = useState<string[]>(allScopes);
  const creation = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v2/operator/workspaces', {
          body: {
            name: name.trim(),
            credits_cents: typeof dollars === 'number' ? Math.round(dollars * 100) : null,
            key: { name: texts.workspaces.firstKey, scopes: scopes as Scope[] },
          },
        }),
      ),
    onSuccess: (made) => {
      onCreated(made);
      void queries.invalidateQueries({ queryKey: ['operator', 'workspaces'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label={texts.workspaces.name}
        description={texts.workspaces.nameText}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
        maxLength={100}
        data-autofocus
      />
      <NumberInput
        label={texts.workspaces.credits}
        description={texts.workspaces.openingText}
        value={dollars}
        onChange={setDollars}
        prefix="$"
        decimalScale={2}
        min={0}
        thousandSeparator=","
      />
      <Checkbox.Group
        label={texts.workspaces.scopes}
        description={texts.workspaces.scopesText}
        value={scopes}
        onChange={setScopes}
      >
        {allScopes.map((scope) => (
          <Checkbox key={scope} mt={8} value={scope} label={scope} description={texts.keys.scope[scope]} />
        ))}
      </Checkbox.Group>
      {creation.error && <Failure error={creation.error} title={texts.parts.notDone} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.parts.cancel}
        </Button>
        <Button
          type="submit"
          loading={creation.isPending}
          disabled={name.trim() === '' || scopes.length === 0}
        >
          {texts.workspaces.create}
        </Button>
      </div>
    </form>
  );
}
