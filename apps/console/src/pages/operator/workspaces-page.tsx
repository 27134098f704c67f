import { Button, Table, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { type Workspace, workspacesQuery } from '../../api/operator.ts';
import { Command } from '../../parts/command.tsx';
import { CopyId } from '../../parts/copy-id.tsx';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { count } from '../../parts/quantities.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { EditWorkspace } from './edit-workspace.tsx';
import { NewWorkspace } from './new-workspace.tsx';
import { WorkspaceLink } from './workspace-link.tsx';
import classes from './operator.module.css';

export function WorkspacesPage() {
  const { q } = useSearch({ from: '/workspaces' });
  const navigate = useNavigate({ from: '/workspaces' });
  const workspaces = useInfiniteQuery(workspacesQuery(q));
  const [edited, setEdited] = useState<Workspace>();
  const [linked, setLinked] = useState<Workspace>();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageTitle title={texts.workspaces.title} detail={texts.workspaces.about}>
        <TextInput
          type="search"
          aria-label={texts.workspaces.search}
          placeholder={texts.workspaces.search}
          leftSection={<Search size={14} aria-hidden />}
          defaultValue={q}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: value === '' ? {} : { q: value }, replace: true })
          }
        />
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setCreating(true)}>
          {texts.workspaces.create}
        </Button>
      </PageTitle>
      <LoadedList
        query={workspaces}
        empty={
          <Empty title={texts.workspaces.empty} detail={texts.workspaces.emptyText}>
            <Command text={texts.workspaces.command} label={texts.workspaces.copyCommand} />
          </Empty>
        }
      >
        {(entries) => (
          <div className={classes.scroll}>
            <Table className={classes.table}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{texts.workspaces.name}</Table.Th>
                  <Table.Th>{texts.workspaces.inflight}</Table.Th>
                  <Table.Th className="wide-only">{texts.workspaces.committed}</Table.Th>
                  <Table.Th className="wide-only">{texts.workspaces.backlog}</Table.Th>
                  <Table.Th className="wide-only">{texts.workspaces.perMinute}</Table.Th>
                  <Table.Th className={`wide-only ${classes.number}`}>{texts.workspaces.credits}</Table.Th>
                  <Table.Th className={`wide-only ${classes.number}`}>{texts.workspaces.today}</Table.Th>
                  <Table.Th>
                    <span className="visually-hidden">{texts.workspaces.edit}</span>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {entries.map((workspace) => (
                  <WorkspaceRow
                    key={workspace.id}
                    workspace={workspace}
                    edit={() => setEdited(workspace)}
                    link={() => setLinked(workspace)}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </div>
        )}
      </LoadedList>
      <EditWorkspace workspace={edited} close={() => setEdited(undefined)} />
      <NewWorkspace opened={isCreating} close={() => setCreating(false)} />
      <WorkspaceLink workspace={linked} close={() => setLinked(undefined)} />
    </>
  );
}

function WorkspaceRow({
  workspace,
  edit,
  link,
}: {
  workspace: Workspace;
  edit: () => void;
  link: () => void;
}) {
  const { id, name, enabled, limits, credits_cents, held_cents, today } = workspace;
  return (
    <Table.Tr>
      <Table.Td>
        <strong>{name}</strong>
        {!enabled && <StateMark tone="warn">{texts.workspaces.disabled}</StateMark>}
        <div className={classes.small}>
          <CopyId id={id} />
        </div>
      </Table.Td>
      <Table.Td>
        <Use label={texts.workspaces.inflight} {...limits.inflight} />
      </Table.Td>
      <Table.Td className="wide-only">
        <Use label={texts.workspaces.committed} {...limits.committed_spend_cents} written={dollarsOfCents} />
      </Table.Td>
      <Table.Td className="wide-only">
        <Use label={texts.workspaces.backlog} {...limits.backlog} />
      </Table.Td>
      <Table.Td className="wide-only">
        <Use label={texts.workspaces.perMinute} {...limits.runs_per_minute} />
      </Table.Td>
      <Table.Td className={`wide-only ${classes.number}`}>
        {credits_cents === null ? texts.parts.unlimited : dollarsOfCents(credits_cents)}
        <div className={classes.small}>{texts.workspaces.held(dollarsOfCents(held_cents))}</div>
      </Table.Td>
      <Table.Td className={`wide-only ${classes.number}`}>
        {dollarsOfCents(today.cost_cents)}
        <div className={classes.small}>{texts.workspaces.runs(count(today.runs))}</div>
      </Table.Td>
      <Table.Td className={classes.action}>
        <div className={classes.buttons}>
          <Button variant="default" size="xs" onClick={link} aria-label={`${texts.workspaces.link} ${name}`}>
            {texts.workspaces.link}
          </Button>
          <Button variant="default" size="xs" onClick={edit} aria-label={`${texts.workspaces.edit} ${name}`}>
            {texts.workspaces.edit}
          </Button>
        </div>
      </Table.Td>
    </Table.Tr>
  );
}

function Use({
  label,
  limit,
  current,
  written = count,
}: {
  label: string;
  limit: number;
  current: number;
  written?: (value: number) => string;
}) {
  return (
    <Meter
      compact
      label={label}
      limit={limit}
      current={current}
      text={texts.parts.of(written(current), written(limit))}
    />
  );
}
