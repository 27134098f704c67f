import { Button, PasswordInput, TextInput } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';
import classes from './settings-page.module.css';

type ProviderKey = components['schemas']['RouterProviderKey'];

const providerKeysQuery = queryOptions({
  queryKey: ['provider-keys'],
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/v2/provider-keys', { signal }))).data,
});

/** The workspace's own keys of providers. A key that was set is never shown. */
export function ProviderKeys() {
  const query = useQuery(providerKeysQuery);
  return (
    <div className={classes.providerKeys}>
      <Loaded query={query}>
        {(keys) => (keys.length === 0 ? <p>{texts.settings.noProviderKeys}</p> : <List keys={keys} />)}
      </Loaded>
      <NewKey />
    </div>
  );
}

function List({ keys }: { keys: readonly ProviderKey[] }) {
  return (
    <ul>
      {keys.map(({ provider, last_characters: last, set_at: at, state }) => (
        <li key={provider}>
          <code>{provider}</code>
          <span>
            {last === undefined ? '' : `…${last} · `}
            {texts.settings.providerKeyStates[state]} · <Moment at={at} />
          </span>
          <Confirm
            label={texts.settings.deleteProviderKey}
            of={provider}
            title={texts.settings.deleteProviderKeyTitle(provider)}
            detail={texts.settings.deleteProviderKeyText}
            act={() => api.DELETE('/v2/provider-keys/{provider}', { params: { path: { provider } } })}
            changes={providerKeysQuery.queryKey}
          />
        </li>
      ))}
    </ul>
  );
}

function NewKey() {
  const queries = useQueryClient();
  const [provider, setProvider] = useState('');
  const [key, setKey] = useState('');
  const setting = useMutation({
    mutationFn: () =>
      bodyOf(api.PUT('/v2/provider-keys/{provider}', { params: { path: { provider } }, body: { key } })),
    onSuccess: async () => {
      setProvider('');
      setKey('');
      await queries.invalidateQueries(providerKeysQuery);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setting.mutate();
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        label={texts.settings.provider}
        description={texts.settings.providerHint}
        value={provider}
        onChange={(event) => setProvider(event.currentTarget.value.trim())}
        spellCheck={false}
        required
      />
      <PasswordInput
        label={texts.settings.providerKey}
        description={texts.settings.providerKeyHint}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        required
      />
      {setting.error && <Failure error={setting.error} title={texts.settings.providerKeyNotSet} />}
      <Button type="submit" variant="default" loading={setting.isPending}>
        {texts.settings.setProviderKey}
      </Button>
    </form>
  );
}
