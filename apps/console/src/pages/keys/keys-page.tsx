import { Button, Table } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { keysQuery, type NewApiKey, type RotatedKey } from '../../api/keys.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { CreatedKey } from './created-key.tsx';
import { KeyRow } from './key-row.tsx';
import { NewKeyForm } from './new-key-form.tsx';
import classes from './keys-page.module.css';

export function KeysPage() {
  const keys = useInfiniteQuery(keysQuery);
  const ownId = useQuery(workspaceQuery).data?.credential.key_id;
  const { new: isCreating = false } = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const setCreating = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { new: true } : {}, replace: true, resetScroll: false });
  const [created, setCreated] = useState<NewApiKey | RotatedKey>();
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
                <Table.Th className={`wide-only ${classes.moment}`}>{texts.keys.lastUse}</Table.Th>
                <Table.Th className={`wide-only ${classes.moment}`}>{texts.keys.spend}</Table.Th>
                <Table.Th className="wide-only">{texts.keys.created}</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">{texts.keys.revoke}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((key) => (
                <KeyRow
                  key={key.id}
                  apiKey={key}
                  isOwn={key.id === ownId}
                  listed={entries}
                  onRotated={setCreated}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </LoadedList>
      <NewKeyForm opened={isCreating} close={() => setCreating(false)} onCreated={setCreated} />
    </>
  );
}
