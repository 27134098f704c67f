import { Badge, Button, Table } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type ApiKey, keysQuery, type NewApiKey } from '../../api/keys.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { CreatedKey } from './created-key.tsx';
import { NewKeyForm } from './new-key-form.tsx';
import { RevokeKey } from './revoke-key.tsx';
import classes from './keys-page.module.css';

export function KeysPage() {
  const keys = useInfiniteQuery(keysQuery);
  const ownId = useQuery(workspaceQuery).data?.credential.key_id;
  const { new: isCreating = false } = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const setCreating = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { new: true } : {}, replace: true, resetScroll: false });
  const [created, setCreated] = useState<NewApiKey>();
  return (
    <>
      <PageTitle title={texts.keys.title} detail={texts.keys.about}>
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setCreating(true)}>
          {texts.keys.create}
        </Button>
      </PageTitle>
      {created && <CreatedKey created={created} close={() => setCreated(undefined)} />}
      <LoadedList query={keys} empty={<Empty title={texts.keys.empty} detail={texts.keys.emptyText} />}>
        {(entries) => (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.keys.name}</Table.Th>
                <Table.Th className="wide-only">{texts.keys.scopes}</Table.Th>
                <Table.Th>{texts.keys.state}</Table.Th>
                <Table.Th className="wide-only">{texts.keys.created}</Table.Th>
                <Table.Th className="wide-only">{texts.keys.expires}</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">{texts.keys.revoke}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((key) => (
                <KeyRow key={key.id} apiKey={key} isOwn={key.id === ownId} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </LoadedList>
      <NewKeyForm opened={isCreating} close={() => setCreating(false)} onCreated={setCreated} />
    </>
  );
}

function KeyRow({ apiKey, isOwn }: { apiKey: ApiKey; isOwn: boolean }) {
  const { name, kind, prefix, scopes, state, created_at, expires_at } = apiKey;
  return (
    <Table.Tr className={classes.row} data-dead={state !== 'live'}>
      <Table.Td className={classes.name}>
        <span>
          {kind === 'key' ? name : texts.keys.kinds[kind]}{' '}
          {isOwn && <span className="dimmed">{texts.keys.own}</span>}
        </span>
        <code className="dimmed">{prefix}…</code>
        <span className={`narrow-only ${classes.narrowScopes}`}>{scopes.join(', ')}</span>
      </Table.Td>
      <Table.Td className={`wide-only ${classes.scopes}`}>
        {scopes.map((scope) => (
          <Badge key={scope} variant="default" className={classes.scope}>
            {scope}
          </Badge>
        ))}
      </Table.Td>
      <Table.Td>
        <StateMark tone={state === 'live' ? 'good' : 'calm'}>{texts.keys.states[state]}</StateMark>
      </Table.Td>
      <Table.Td className="wide-only">
        <Moment at={created_at} />
      </Table.Td>
      <Table.Td className="wide-only">
        {expires_at === undefined ? (
          <span className="dimmed">{texts.keys.never}</span>
        ) : (
          <Moment at={expires_at} />
        )}
      </Table.Td>
      <Table.Td className={classes.action}>
        {state === 'live' && <RevokeKey apiKey={apiKey} isOwn={isOwn} />}
      </Table.Td>
    </Table.Tr>
  );
}
