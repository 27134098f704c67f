import { SegmentedControl, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { queuesQuery } from '../../api/operator.ts';
import { duration } from '../../parts/duration.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { count } from '../../parts/quantities.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { OperatorRuns } from './operator-runs.tsx';
import classes from './operator.module.css';

type Queues = Awaited<ReturnType<NonNullable<typeof queuesQuery.queryFn>>>;

export function QueuesPage() {
  const queues = useQuery(queuesQuery);
  const { look = 'stuck' } = useSearch({ from: '/queues' });
  const navigate = useNavigate({ from: '/queues' });
  return (
    <>
      <PageTitle title={texts.queues.title} detail={texts.queues.about} />
      <Loaded query={queues}>
        {({ runs, queues: jobs, transport }) => (
          <div className={classes.pair}>
            <LiveRuns runs={runs} />
            <Jobs queues={jobs} transport={transport} />
          </div>
        )}
      </Loaded>
      <section className={classes.section}>
        <div className={classes.head}>
          <h2>{texts.queues.look}</h2>
          <SegmentedControl
            size="xs"
            aria-label={texts.queues.look}
            data={(['stuck', 'failed'] as const).map((value) => ({
              value,
              label: texts.queues.looks[value],
            }))}
            value={look}
            onChange={(value) =>
              void navigate({ search: value === 'failed' ? { look: value } : {}, replace: true })
            }
          />
        </div>
        <OperatorRuns state={look} />
      </section>
      {queues.data && <Processes processes={queues.data.processes} />}
    </>
  );
}

function LiveRuns({ runs }: { runs: Queues['runs'] }) {
  return (
    <section>
      <h2>{texts.queues.live}</h2>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.queues.stage}</Table.Th>
            <Table.Th className={classes.number}>{texts.queues.runs}</Table.Th>
            <Table.Th className={classes.number}>{texts.queues.oldest}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map(({ state, runs, oldest_seconds }) => (
            <Table.Tr key={state}>
              <Table.Td>{texts.queues.states[state]}</Table.Td>
              <Table.Td className={classes.number}>{count(runs)}</Table.Td>
              <Table.Td className={classes.number}>
                {runs === 0 ? '–' : duration(oldest_seconds * 1000)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Jobs({ queues, transport }: Pick<Queues, 'queues' | 'transport'>) {
  return (
    <section>
      <h2>{texts.queues.jobs[transport]}</h2>
      {queues.length === 0 ? (
        <p className="dimmed">{texts.queues.away}</p>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.queues.queue}</Table.Th>
              <Table.Th className={classes.number}>{texts.queues.waiting}</Table.Th>
              <Table.Th className={classes.number}>{texts.queues.active}</Table.Th>
              <Table.Th className={classes.number}>{texts.queues.delayed}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {queues.map(({ queue, waiting, active, delayed }) => (
              <Table.Tr key={queue}>
                <Table.Td>{queue}</Table.Td>
                <Table.Td className={classes.number}>{count(waiting)}</Table.Td>
                <Table.Td className={classes.number}>{count(active)}</Table.Td>
                <Table.Td className={classes.number}>{count(delayed)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}

function Processes({ processes }: Pick<Queues, 'processes'>) {
  return (
    <section className={classes.section}>
      <h2>{texts.queues.processes}</h2>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={texts.queues.processes}>
        <Table className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.queues.app}</Table.Th>
              <Table.Th>{texts.queues.host}</Table.Th>
              <Table.Th>{texts.queues.started}</Table.Th>
              <Table.Th>{texts.queues.seen}</Table.Th>
              <Table.Th>{texts.queues.catalog}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {processes.map(({ app, host, pid, started_at, seen_at, catalog_revision, catalog_problem }) => (
              <Table.Tr key={`${host} ${pid}`}>
                <Table.Td>{app}</Table.Td>
                <Table.Td>
                  {host} <span className="dimmed">{pid}</span>
                </Table.Td>
                <Table.Td>
                  <Moment at={started_at} />
                </Table.Td>
                <Table.Td>
                  <Moment at={seen_at} />
                </Table.Td>
                <Table.Td>
                  <code>{catalog_revision.slice(0, 12)}</code>
                  {catalog_problem !== undefined && <StateMark tone="warn">{catalog_problem}</StateMark>}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </section>
  );
}
