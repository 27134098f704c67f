import { expect, it } from '@jest/globals';
import { inhibitions } from '../../monitoring/src/inhibitions.js';
import { textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { prod, type Series, staging, testRules, within } from './promtool.js';

const { describeWith, tools } = await withTools('promtool');

/** Samples come every 15 s, as the PodMonitor scrapes. The outage begins after ten minutes. */
const every = '15s';
const before = 40;
const after = 160;
const gateway = 'router_http_server_request_duration_seconds';
const submit = 'route="/v2/models/:provider/:model/requests"';

/** A steady rise over the whole test, or a constant. */
const rises = (each: number) => `0+${each}x${before + after}`;
const stays = (value: number) => `${value}x${before + after}`;
/** A value that changes when the outage begins, for some samples or for good. */
const changes = (usual: number, then: number, samples = after) =>
  `${usual}x${before - 1} ${then}x${samples - 1} ${usual}x${after - samples}`;
/** The process is gone when the outage begins. */
const ends = (series: Series): Series =>
  Object.fromEntries(
    Object.entries(series).map(([each, values]) => [
      each,
      `${values.replace(/x\d+$/, `x${before - 1}`)} stale`,
    ]),
  );
/** A counter that begins to rise with the outage, or stops. */
const begins = (each: number) => `0x${before - 1} ${each}+${each}x${after}`;
const stops = (each: number) => `0+${each}x${before - 1} ${each * (before - 1)}x${after}`;

const gateways: Series = {
  'router_build_info{app="gateway",instance="g"}': stays(1),
  'router_ready{app="gateway",instance="g"}': stays(1),
  [`${gateway}_count{app="gateway",instance="g",${submit},error_type=""}`]: rises(30),
  [`${gateway}_bucket{app="gateway",instance="g",${submit},error_type="",le="0.3"}`]: rises(30),
  'router_outbox_oldest_age_seconds{app="gateway",instance="g"}': stays(0),
  'router_queue_oldest_job_age_seconds{app="gateway",instance="g",queue="dispatch-bfl"}': stays(0),
  'router_queue_jobs{app="gateway",instance="g",queue="poll",state="waiting"}': stays(0),
  'router_provider_state{app="gateway",instance="g",provider="bfl",state="ready"}': stays(1),
  'router_queue_jobs{app="gateway",instance="g",queue="dispatch",state="waiting"}': stays(0),
};
const workers: Series = {
  'router_build_info{app="worker",instance="w"}': stays(1),
  'router_ready{app="worker",instance="w"}': stays(1),
  'router_outbox_oldest_age_seconds{app="worker",instance="w"}': stays(0),
  'router_queue_oldest_job_age_seconds{app="worker",instance="w",queue="dispatch-bfl"}': stays(0),
  'router_queue_wait_seconds_count{app="worker",instance="w",queue="poll"}': rises(30),
  'router_queue_wait_seconds_count{app="worker",instance="w",queue="dispatch"}': rises(30),
  'router_runs_total{app="worker",instance="w",provider="bfl",error_type=""}': rises(30),
  'router_provider_account_errors_total{app="worker",instance="w",provider="bfl"}': stays(0),
  'router_store_request_duration_seconds_count{app="worker",instance="w",op="put",result="ok"}': rises(30),
};
const usual = { ...gateways, ...workers };

/** Neither app reaches the database: not ready, no calls, no gauges of the backlog. */
const databaseSilent = (samples: number): Series => ({
  'router_ready{app="gateway",instance="g"}': changes(1, 0, samples),
  'router_ready{app="worker",instance="w"}': changes(1, 0, samples),
  'router_outbox_oldest_age_seconds{app="gateway",instance="g"}': `0x${before - 1} stale _x${samples} 0x${after - samples - 1}`,
  'router_outbox_oldest_age_seconds{app="worker",instance="w"}': `0x${before - 1} stale _x${samples} 0x${after - samples - 1}`,
  'router_queue_wait_seconds_count{app="worker",instance="w",queue="poll"}': stops(30),
  'router_runs_total{app="worker",instance="w",provider="bfl",error_type=""}': stops(30),
  'router_store_request_duration_seconds_count{app="worker",instance="w",op="put",result="ok"}': stops(30),
});
/** Nobody takes runs, which the gateways see. */
const backlogGrows: Series = {
  'router_outbox_oldest_age_seconds{app="gateway",instance="g"}': `0x${before - 1} 0+15x${after}`,
  'router_queue_oldest_job_age_seconds{app="gateway",instance="g",queue="dispatch-bfl"}': `0x${before - 1} 0+15x${after}`,
};

interface Outage {
  what: string;
  series: Series;
  /** The alerts that fire, in seconds since the outage began. The first column is quiet. */
  fires: readonly [seconds: number, ...alerts: string[]][];
}

const outages: readonly Outage[] = [
  { what: 'nothing', series: {}, fires: [[0], [600], [1800]] },
  { what: 'the database is silent for 15 s', series: databaseSilent(1), fires: [[15], [60], [120], [900]] },
  {
    what: 'the database is silent for 2 min',
    series: databaseSilent(8),
    fires: [[45], [75, 'RouterNoGatewayReady', 'RouterNoWorkerReady'], [135], [900]],
  },
  {
    what: 'the database is silent for 10 min',
    series: databaseSilent(40),
    fires: [
      [45],
      [75, 'RouterNoGatewayReady', 'RouterNoWorkerReady'],
      [585, 'RouterNoGatewayReady', 'RouterNoWorkerReady'],
      [630],
    ],
  },
  {
    what: 'all workers are gone',
    series: {
      ...ends(workers),
      ...backlogGrows,
      'router_queue_jobs{app="gateway",instance="g",queue="dispatch",state="waiting"}': `0x${before - 1} 0+5x${after}`,
    },
    fires: [
      [45],
      [75, 'RouterNoWorkerReady'],
      [240, 'RouterNoWorkerReady', 'RouterOutboxOverdue'],
      [480, 'RouterNoWorkerReady', 'RouterOutboxOverdue', 'RouterRunsWaitForWorkers'],
      [630, 'RouterNoWorkerReady', 'RouterOutboxOverdue', 'RouterQueueStalled', 'RouterRunsWaitForWorkers'],
    ],
  },
  {
    what: 'all gateways are gone',
    series: ends(gateways),
    fires: [[45], [75, 'RouterNoGatewayReady'], [1800, 'RouterNoGatewayReady']],
  },
  {
    what: 'all processes are gone',
    series: ends(usual),
    fires: [[45], [75, 'RouterNoGatewayReady', 'RouterNoWorkerReady']],
  },
  {
    what: 'Redis is down',
    series: {
      'router_ready{app="worker",instance="w"}': changes(1, 0),
      'router_queue_jobs{app="gateway",instance="g",queue="poll",state="waiting"}': `0x${before - 1} stale`,
      'router_queue_wait_seconds_count{app="worker",instance="w",queue="poll"}': stops(30),
      'router_outbox_oldest_age_seconds{app="gateway",instance="g"}': `0x${before - 1} 0+15x${after}`,
      'router_outbox_oldest_age_seconds{app="worker",instance="w"}': `0x${before - 1} 0+15x${after}`,
    },
    fires: [
      [45],
      [75, 'RouterNoWorkerReady'],
      [240, 'RouterNoWorkerReady', 'RouterOutboxOverdue'],
      [1800, 'RouterNoWorkerReady', 'RouterOutboxOverdue'],
    ],
  },
  {
    what: 'S3 is down',
    series: {
      'router_store_request_duration_seconds_count{app="worker",instance="w",op="put",result="ok"}':
        stops(30),
      'router_store_request_duration_seconds_count{app="worker",instance="w",op="put",result="unavailable"}':
        begins(30),
    },
    fires: [[90], [165, 'RouterStoreDown'], [720, 'RouterStoreDown', 'RouterStoreFails']],
  },
  {
    what: 'a provider is down',
    series: {
      'router_runs_total{app="worker",instance="w",provider="bfl",error_type=""}': stops(30),
      'router_runs_total{app="worker",instance="w",provider="bfl",error_type="provider_error"}': begins(30),
    },
    fires: [[600], [840, 'RouterProviderFails']],
  },
  {
    what: 'a provider rejects our key',
    series: {
      'router_provider_account_errors_total{app="worker",instance="w",provider="bfl"}': begins(1),
      'router_provider_state{app="gateway",instance="g",provider="bfl",state="ready"}': `1x${before - 1} stale`,
      'router_provider_state{app="gateway",instance="g",provider="bfl",state="key_rejected"}': `_x${before} 1x${after}`,
    },
    fires: [[0], [60, 'RouterProviderRefusesOurAccount']],
  },
];
const firing = 'count by (alertname, namespace) (ALERTS{alertstate="firing"})';
const timeOf = (seconds: number) => `${(before * 15 + seconds).toString()}s`;

describeWith('outages beside an installation without one', () => {
  it.each(outages)('$what', ({ what, series, fires }) => {
    const { status, output } = testRules(
      tools.promtool,
      [
        {
          name: what,
          interval: every,
          series: { ...within(prod, { ...usual, ...series }), ...within(staging, usual) },
          expected: fires.map(([seconds, ...names]) => ({
            at: timeOf(seconds),
            expression: firing,
            samples: names.map((name) => ({ labels: `{alertname="${name}", namespace="prod"}`, value: 1 })),
          })),
        },
      ],
      every,
    );
    expect(output).not.toContain('FAILED');
    expect(status).toBe(0);
  });

  it.each(outages.filter(({ fires }) => fires.some(([, ...names]) => names.length > 1)))(
    'when $what, Alertmanager tells it once',
    ({ fires }) => {
      for (const [, ...names] of fires.filter(([, ...each]) => each.length > 0)) {
        const silent = inhibitions
          .filter(({ while: source }) => names.includes(source))
          .flatMap((each) => each.silent);
        expect(names.filter((name) => !silent.includes(name))).toHaveLength(1);
      }
    },
  );

  it('are listed in the runbook with their alerts', () => {
    const rows = textOf('docs/operations/alerts.md').matchAll(/^\| (\w.*?) +\| (.*?) +\|$/gm);
    const listed = [...rows].map(([, what = '', alerts = '']) => ({
      what: what.toLowerCase(),
      alerts: [...new Set(alerts.match(/Router\w+/g))].sort(),
    }));
    const provoked = outages.slice(1).map(({ what, fires }) => ({
      what: what.toLowerCase(),
      alerts: [...new Set(fires.flatMap(([, ...names]) => names))].sort(),
    }));
    expect(listed.filter(({ what }) => what !== 'outage')).toEqual(provoked);
  });
});
