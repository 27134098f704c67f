import { Button, Checkbox, Modal, Select, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { NewApiKey } from '../../api/keys.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './keys-page.module.css';

type Scope = keyof typeof texts.keys.scope;
const scopes = Object.keys(texts.keys.scope) as Scope[];
const usual: Scope[] = ['catalog', 'run'];
/** Scopes of usual keys. */
const presets: Record<keyof typeof texts.keys.presets, Scope[]> = {
  run: usual,
  read: ['catalog', 'requests', 'usage', 'workspace'],
  billing: ['usage', 'workspace'],
  all: scopes,
};
const lifetimes = [
  { value: '30', label: texts.keys.days(30) },
  { value: '90', label: texts.keys.days(90) },
  { value: '365', label: texts.keys.days(365) },
];

interface NewKeyFormProps {
  opened: boolean;
  close: () => void;
  onCreated: (key: NewApiKey) => void;
}

export function NewKeyForm({ opened, close, onCreated }: NewKeyFormProps) {
  return (
    <Modal opened={opened} onClose={close} title={texts.keys.create}>
      <Fields close={close} onCreated={onCreated} />
    </Modal>
  );
}

function Fields({ close, onCreated }: Omit<NewKeyFormProps, 'opened'>) {
  const queries = useQueryClient();
  const own = useQuery(workspaceQuery).data?.credential.scopes ?? [];
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>(usual.filter((scope) => own.includes(scope)));
  const [tags, setTags] = useState('');
  const [days, setDays] = useState<string | null>(null);
  const creation = useMutation({
    mutationFn: () => {
      const expires =
        days === null ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() };
      const fixed = tags.trim() === '' ? {} : { tags: tagsIn(tags) };
      return bodyOf(
        api.POST('/v2/keys', { body: { name, scopes: chosen as Scope[], ...fixed, ...expires } }),
      );
    },
    onSuccess: (key) => {
      onCreated(key);
      close();
      void queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      <TextInput
        label={texts.keys.name}
        description={texts.keys.nameHint}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        required
        maxLength={200}
        data-autofocus
      />
      <Checkbox.Group
        label={texts.keys.scopes}
        value={chosen}
        onChange={setChosen}
        classNames={{ root: classes.form }}
      >
        <Presets chosen={chosen} own={own} choose={setChosen} />
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            mt={8}
            value={scope}
            label={scope}
            description={own.includes(scope) ? texts.keys.scope[scope] : texts.keys.lacked}
            disabled={!own.includes(scope)}
          />
        ))}
      </Checkbox.Group>
      <TextInput
        label={texts.keys.tags}
        description={texts.keys.tagsHint}
        placeholder="project=alpha,team=web"
        value={tags}
        onChange={({ currentTarget }) => setTags(currentTarget.value)}
        spellCheck={false}
      />
      <Select
        label={texts.keys.expires}
        placeholder={texts.keys.never}
        data={lifetimes}
        value={days}
        onChange={setDays}
        clearable
      />
      {creation.error && <Failure error={creation.error} title={texts.keys.notCreated} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.keys.cancel}
        </Button>
        <Button
          type="submit"
          loading={creation.isPending}
          disabled={name.trim() === '' || chosen.length === 0}
        >
          {texts.keys.create}
        </Button>
      </div>
    </form>
  );
}

interface PresetsProps {
  chosen: readonly string[];
  own: readonly string[];
  choose: (scopes: string[]) => void;
}

/** Chooses the scopes of a usual key, as far as the caller has them. */
function Presets({ chosen, own, choose }: PresetsProps) {
  return (
    <div className={classes.presets} role="group" aria-label={texts.keys.presetsLabel}>
      {Object.entries(texts.keys.presets).map(([name, label]) => {
        const its = presets[name as keyof typeof presets].filter((scope) => own.includes(scope));
        const isChosen = its.length === chosen.length && its.every((scope) => chosen.includes(scope));
        return (
          <Button
            key={name}
            size="xs"
            variant={isChosen ? 'light' : 'default'}
            aria-pressed={isChosen}
            disabled={its.length === 0}
            onClick={() => choose(its)}
          >
            {label}
          </Button>
        );
      })}
    </div>
  );
}

/** Tags as the header of a call has them. The service checks their names and values. */
const tagsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((tag) => {
      const [name = '', ...value] = tag.trim().split('=');
      return [name, value.join('=')];
    }),
  );
