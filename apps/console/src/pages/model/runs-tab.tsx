import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { modelRunsQuery } from '../../api/model-runs.ts';
import { duration } from '../../parts/duration.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Moment } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { Status } from '../../parts/status.tsx';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';

/** The latest runs of this model in the workspace. */
export function RunsTab({ id }: { id: string }) {
  const { data, error, refetch, isPending } = useQuery(modelRunsQuery(id));
  if (isPending) return <TableSkeleton rows={4} />;
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data.data.length === 0) return <Empty title={texts.model.noRuns} detail={texts.model.noRunsDetail} />;
  return (
    <div className={classes.scroll}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {texts.model.runColumns.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.data.map((run) => (
            <Table.Tr key={run.request_id}>
              <Table.Td>
                <Link to="/runs/$requestId" params={{ requestId: run.request_id }}>
                  <Moment at={run.created_at} />
                </Link>
              </Table.Td>
              <Table.Td>
                <Status run={run} />
              </Table.Td>
              <Table.Td>{run.duration_ms === undefined ? '' : duration(run.duration_ms)}</Table.Td>
              <Table.Td>{run.cost_cents === undefined ? '' : dollarsOfCents(run.cost_cents)}</Table.Td>
              <Table.Td>
                <Link
                  to="/models/$provider/$model"
                  params={{ provider: id.split('/')[0] ?? '', model: id.split('/')[1] ?? '' }}
                  search={{ from: run.request_id }}
                >
                  {texts.model.again}
                </Link>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
