import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type OperatorRun, operatorRunsQuery } from '../../api/operator.ts';
import { LoadedList } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';

/** Stuck or failed runs of all workspaces. */
export function OperatorRuns({ state, provider }: { state: 'stuck' | 'failed'; provider?: string }) {
  const runs = useInfiniteQuery(operatorRunsQuery({ state, ...(provider !== undefined && { provider }) }));
  return (
    <LoadedList
      query={runs}
      skeleton={<TableSkeleton rows={4} />}
      empty={
        <div className={classes.none}>
          <StateMark tone="good">{texts.queues.none[state]}</StateMark>
          <p className="dimmed">{texts.queues.noneText[state]}</p>
        </div>
      }
    >
      {(entries) => (
        <div className={classes.scroll}>
          <Table className={classes.table}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{texts.queues.time}</Table.Th>
                <Table.Th>{texts.queues.run}</Table.Th>
                <Table.Th className="wide-only">{texts.queues.workspace}</Table.Th>
                <Table.Th className="wide-only">{texts.queues.model}</Table.Th>
                <Table.Th className="wide-only">{texts.queues.stage}</Table.Th>
                <Table.Th>{texts.queues.why}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((run) => (
                <Table.Tr key={run.request_id}>
                  <Table.Td className={classes.time}>
                    <Moment at={run.completed_at ?? run.created_at} />
                  </Table.Td>
                  <Table.Td>
                    <RunLink run={run} />
                  </Table.Td>
                  <Table.Td className="wide-only">{run.workspace.name}</Table.Td>
                  <Table.Td className="wide-only">{run.model}</Table.Td>
                  <Table.Td className="wide-only">{texts.queues.stages[run.stage]}</Table.Td>
                  <Table.Td>
                    <Why run={run} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </LoadedList>
  );
}

export function RunLink({ run: { request_id } }: { run: Pick<OperatorRun, 'request_id'> }) {
  return (
    <Link to="/runs/$requestId" params={{ requestId: request_id }}>
      <code>{`${request_id.slice(0, 8)}…${request_id.slice(-4)}`}</code>
    </Link>
  );
}

function Why({ run: { reason, error_type } }: { run: OperatorRun }) {
  if (reason !== undefined) return <StateMark tone="warn">{texts.queues.reasons[reason]}</StateMark>;
  return error_type && <StateMark tone="bad">{texts.buckets[error_type].name}</StateMark>;
}
