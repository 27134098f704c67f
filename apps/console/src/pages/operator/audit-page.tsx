import { Button, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { actionsQuery, type OperatorAction } from '../../api/operator.ts';
import { Problem } from '../../api/problem.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { AuditFilters } from './audit-filters.tsx';
import { actionLabels, auditSearch } from './audit-search.ts';
import classes from './operator.module.css';

export function AuditPage() {
  const filters = useSearch({ from: '/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const actions = useInfiniteQuery(actionsQuery(filters));
  const clear = () => void navigate({ search: {}, replace: true });
  const isFiltered = Object.keys(filters).length > 0;
  const { error } = actions;
  const unmatched = (title: string, detail: string) => (
    <Empty title={title} detail={detail}>
      <Button variant="default" size="xs" onClick={clear}>
        {texts.audit.clear}
      </Button>
    </Empty>
  );
  return (
    <>
      <PageTitle title={texts.audit.title} detail={texts.audit.about} />
      <AuditFilters
        filters={filters}
        change={(changes) =>
          void navigate({ search: (before) => auditSearch({ ...before, ...changes }), replace: true })
        }
        clear={clear}
      />
      {isFiltered && error instanceof Problem && (error.status === 400 || error.status === 404) ? (
        // The API's message suggests the nearest names.
        unmatched(texts.audit.badFilter, error.message)
      ) : (
        <LoadedList
          query={actions}
          empty={
            isFiltered ? (
              unmatched(texts.audit.noMatch, texts.audit.noMatchText)
            ) : (
              <Empty title={texts.audit.empty} detail={texts.audit.emptyText} />
            )
          }
        >
          {(entries) => (
            <div className={classes.scroll}>
              <Table className={classes.table}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{texts.audit.time}</Table.Th>
                    <Table.Th>{texts.audit.action}</Table.Th>
                    <Table.Th>{texts.audit.subject}</Table.Th>
                    <Table.Th className="wide-only">{texts.audit.workspace}</Table.Th>
                    <Table.Th>{texts.audit.actor}</Table.Th>
                    <Table.Th className="wide-only">{texts.audit.details}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {entries.map((action) => (
                    <ActionRow key={action.id} action={action} />
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )}
        </LoadedList>
      )}
    </>
  );
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text);

function ActionRow({
  action: { at, actor, action, subject, workspace, details },
}: {
  action: OperatorAction;
}) {
  return (
    <Table.Tr>
      <Table.Td className={classes.time}>
        <Moment at={at} />
      </Table.Td>
      <Table.Td>{(actionLabels as Record<string, string>)[action] ?? action}</Table.Td>
      <Table.Td className={classes.text}>{isId(subject) ? <CopyId id={subject} /> : subject}</Table.Td>
      <Table.Td className={`wide-only ${classes.text}`}>{workspace}</Table.Td>
      <Table.Td className={classes.text}>{actor}</Table.Td>
      <Table.Td className={`wide-only ${classes.text}`}>
        {Object.keys(details).length > 0 && <code className={classes.small}>{JSON.stringify(details)}</code>}
      </Table.Td>
    </Table.Tr>
  );
}
