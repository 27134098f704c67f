import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { attemptExamplesQuery, type Provider, providerQuery } from '../../api/operator.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { duration } from '../../parts/duration.ts';
import { Failure } from '../../parts/failure.tsx';
import { Bar } from '../../parts/meter.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { count } from '../../parts/quantities.ts';
import { PageSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Attempts } from './attempts.tsx';
import { CheckProvider } from './check-provider.tsx';
import { OperatorRuns, RunLink } from './operator-runs.tsx';
import { failedShare } from './failed-share.ts';
import classes from './operator.module.css';
import { PauseProvider } from './pause-provider.tsx';
import { ProviderKeys } from './provider-keys.tsx';
import { ProviderState } from './provider-parts.tsx';
import { Surprises } from './surprises.tsx';

export function ProviderPage() {
  const { provider: name } = useParams({ from: '/providers/$provider' });
  const { data: provider, error, refetch } = useQuery(providerQuery(name));
  if (provider === undefined) {
    return error ? <Failure error={error} retry={() => void refetch()} /> : <PageSkeleton />;
  }
  const isPaused = provider.pauses.some(({ asked_by }) => asked_by === 'operator');
  return (
    <>
      <PageTitle
        title={name}
        detail={
          <span className={classes.about} role="status">
            <ProviderState provider={provider} />
          </span>
        }
      >
        {isPaused ? (
          <Confirm
            label={texts.providers.resume}
            title={texts.providers.resumeTitle(name)}
            detail={texts.providers.resumeText}
            act={() =>
              api.DELETE('/v2/operator/providers/{provider}/pause', { params: { path: { provider: name } } })
            }
            changes={['operator', 'providers']}
          />
        ) : (
          <PauseProvider provider={name} />
        )}
      </PageTitle>
      <Pauses provider={provider} />
      <CheckProvider provider={provider} />
      <ProviderKeys provider={provider} />
      <Pressure provider={provider} />
      <Outcomes provider={provider} />
      <section className={classes.section}>
        <h2>{texts.providers.failedRuns}</h2>
        <OperatorRuns state="failed" provider={name} />
      </section>
      <Surprises provider={provider} />
      <Examples provider={name} />
      <Models ids={provider.models} />
    </>
  );
}

function Pauses({ provider: { pauses } }: { provider: Provider }) {
  return pauses.map(({ asked_by, actor, calls, reason, since, until }) => (
    <section key={`${asked_by} ${calls}`} className={classes.pause}>
      <h2>{texts.providers.pausedBy[asked_by]}</h2>
      <p>{reason}</p>
      <p className="dimmed">
        {texts.providers.calls[calls]} {texts.providers.since} <Moment at={since} />
        {actor !== undefined && ` ${texts.providers.by(actor)}`}
        {until !== undefined && (
          <>
            , {texts.providers.until} <Moment at={until} />
          </>
        )}
      </p>
    </section>
  ));
}

function Examples({ provider }: { provider: string }) {
  return (
    <section className={classes.section}>
      <h2>{texts.attempts.examples}</h2>
      <Loaded query={useQuery(attemptExamplesQuery(provider))}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dimmed">{texts.attempts.noExamples}</p>
          ) : (
            <Attempts
              attempts={data.map(({ request_id, attempt }) => ({
                attempt,
                note: <RunLink run={{ request_id }} />,
              }))}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function Models({ ids }: { ids: readonly string[] }) {
  return (
    <section className={classes.section}>
      <h2>{texts.providers.models}</h2>
      {ids.length === 0 && <p className="dimmed">{texts.providers.noModels}</p>}
      <ul className={classes.models}>
        {ids.map((id) => {
          const [provider = '', model = ''] = id.split('/');
          return (
            <li key={id}>
              <Link to="/models/$provider/$model" params={{ provider, model }}>
                {id}
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Pressure({ provider: { pressure } }: { provider: Provider }) {
  const { slots, ...lines } = pressure;
  return (
    <section className={classes.section}>
      <h2>{texts.providers.pressure}</h2>
      <div className={classes.figures}>
        <dl className={`figures ${classes.figure}`}>
          <dt>{texts.providers.slots}</dt>
          <dd>{texts.parts.of(count(slots.in_use), count(slots.limit))}</dd>
          <dd className={classes.bar}>
            <Bar label={texts.providers.slots} limit={slots.limit} current={slots.in_use} />
          </dd>
        </dl>
        {(['waiting', 'under_way', 'parked'] as const).map((name) => (
          <dl key={name} className={`figures ${classes.figure}`}>
            <dt>{texts.providers.lines[name]}</dt>
            <dd>{count(lines[name].runs)}</dd>
            <dd className={classes.small}>
              {lines[name].runs === 0
                ? texts.providers.none
                : texts.providers.oldest(duration(lines[name].oldest_seconds * 1000))}
            </dd>
          </dl>
        ))}
      </div>
    </section>
  );
}

function Outcomes({ provider: { last_hour, last_day } }: { provider: Provider }) {
  const buckets = Object.entries(last_day.errors).sort(([, one], [, other]) => other - one);
  return (
    <section className={classes.section}>
      <h2>{texts.providers.outcomes}</h2>
      <Table className={classes.narrowTable}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.providers.outcome}</Table.Th>
            <Table.Th className={classes.number}>{texts.providers.lastHour}</Table.Th>
            <Table.Th className={classes.number}>{texts.providers.lastDay}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Row name={texts.providers.succeeded} hour={last_hour.succeeded} day={last_day.succeeded} />
          {buckets.map(([bucket, day]) => (
            <Row
              key={bucket}
              name={texts.buckets[bucket as keyof typeof texts.buckets].name}
              hour={last_hour.errors[bucket as keyof typeof last_hour.errors] ?? 0}
              day={day}
            />
          ))}
          <Row name={texts.providers.requests} hour={last_hour.requests} day={last_day.requests} isSum />
          <Table.Tr>
            <Table.Td>{texts.providers.failed}</Table.Td>
            <Table.Td className={classes.number}>{failedShare(last_hour)}</Table.Td>
            <Table.Td className={classes.number}>{failedShare(last_day)}</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Row({ name, hour, day, isSum }: { name: string; hour: number; day: number; isSum?: boolean }) {
  return (
    <Table.Tr className={isSum ? classes.sum : undefined}>
      <Table.Td>{name}</Table.Td>
      <Table.Td className={classes.number}>{count(hour)}</Table.Td>
      <Table.Td className={classes.number}>{count(day)}</Table.Td>
    </Table.Tr>
  );
}
