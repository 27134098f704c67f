import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { textOf } from '../documents/checkout-files.js';
import { type App, System, withTools } from '../harness/faults.js';
import { unending, type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

const { describeWith, tools } = await withTools('promtool');
const model = 'bfl/flux-2-pro';
const body = (text: string) => JSON.stringify({ prompt: text });
const sized = (prompt: string) => JSON.stringify({ prompt, width: 1024, height: 1024 });

const scrape = async (app: App): Promise<string> => {
  const response = await fetch(`${app.internalUrl}/metrics`, { signal: AbortSignal.timeout(30_000) });
  return response.text();
};
const familiesOf = (exposition: string): string[] =>
  [...exposition.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
const isOurs = (line: string): boolean => /^router_(?!process_|nodejs_)/.test(line);
const seriesOf = (exposition: string): string[] =>
  exposition
    .split('\n')
    .filter((line) => isOurs(line))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));

interface Line {
  msg: string;
  [field: string]: unknown;
}
const linesOf = (app: App): Line[] =>
  app
    .logs()
    .split('\n')
    // The last line may be incomplete.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

const fieldsOf = (lines: Line[]): string[] => [...new Set(lines.flatMap((line) => Object.keys(line)))].sort();

/** The seconds of a limit such as `1,000 s` or `5 ms`. */
const inSeconds = (limit: string) =>
  Number.parseFloat(limit.replace(',', '')) / (limit.endsWith('ms') ? 1000 : 1);

/** Apps record an answer a moment after it was sent, so this repeats the expectations until they hold. */
const soon = (what: string, expectations: () => void | Promise<void>) =>
  waitFor(
    async () => {
      await expectations();
      return true;
    },
    { withinMs: 30_000, what },
  );

/** Calls that a stranger might make, each with a new path, model, run, method or key. */
async function wander(caller: Caller, round: number): Promise<void> {
  for (let index = 0; index < 40; index += 1) {
    const odd = `${round}-${index}`;
    await Promise.all([
      caller.call('GET', `/v2/nowhere/${odd}?q=${odd}`),
      caller.call('GET', `/v2/models/p${odd}/m${odd}`),
      caller.call(
        'GET',
        `/v2/models/${model}/requests/018f0000-0000-7000-8000-0000000${10_000 + index}/status`,
      ),
      caller.call('POST', `/v2/models/${model}/requests`, {
        body: body(odd),
        headers: { 'x-api-key': odd },
      }),
      caller.call(['PROPFIND', 'LOCK', 'COPY', 'MOVE'][index % 4] as string, `/v2/${odd}`),
    ]);
  }
}

describe('metrics and logs of the running apps', () => {
  let system: System;
  let caller: Caller;
  let gateway: App;
  let worker: App;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    system = await System.start({ transport, takesMs: 100 });
    [gateway, worker] = [system.gateways[0] as App, system.workers[0] as App];
    caller = await system.caller({ inflightLimit: 1, windowLimit: 20 });
  });
  afterAll(() => system.stop());

  it('cover calls, admissions, runs, queues, providers and pools', async () => {
    const [first, second] = await Promise.all([
      caller.submit(model, body('a')),
      caller.submit(model, body('b')),
    ]);
    await caller.completed(first);
    await caller.completed(second);
    expect((await caller.call('POST', `/v2/models/${model}`, { body: body('held') })).status).toBe(200);

    await soon('the metrics of three runs', async () => {
      const [ofGateway, ofWorker] = await Promise.all([scrape(gateway), scrape(worker)]);
      expect(ofGateway).toMatch(
        /router_http_server_request_duration_seconds_count\{route="[^"]+\/requests",method="POST",status_class="2xx",error_type=""\} 2/,
      );
      expect(ofGateway).toMatch(/router_admission_duration_seconds_count 3/);
      expect(ofGateway).toMatch(/router_held_calls 0/);
      expect(ofGateway).toMatch(/router_database_connections\{pool="work",state="idle"\} [1-9]/);
      expect(ofWorker).toContain(
        'router_runs_total{delivery="queued",provider="bfl",outcome="succeeded",error_type=""} 2',
      );
      expect(ofWorker).toContain(
        'router_runs_total{delivery="sync",provider="bfl",outcome="succeeded",error_type=""} 1',
      );
      expect(ofWorker).toMatch(/router_run_duration_seconds_count\{provider="bfl",phase="queue"\} 3/);
      expect(ofWorker).toMatch(/router_run_duration_seconds_count\{provider="bfl",phase="provider"\} 3/);
      expect(ofWorker).toMatch(/router_billed_dollars_total\{provider="bfl"\} 0\.\d+/);
      expect(ofWorker).toMatch(
        /router_provider_request_duration_seconds_count\{provider="bfl",op="submit",result="2xx"\} 3/,
      );
      expect(ofWorker).toMatch(/router_queue_wait_seconds_count\{queue="dispatch(-bfl)?"\} [3-9]/);
      expect(ofWorker).toMatch(/router_provider_poll_lateness_seconds_count\{provider="bfl"\} [3-9]/);
      for (const queue of ['dispatch', 'poll', 'assets'])
        for (const state of ['busy 0', 'total [1-9]'].map((each) => each.split(' ')))
          expect(ofWorker).toMatch(
            new RegExp(
              `router_worker_slots\\{queue="${queue}",provider="bfl",state="${state[0]}"\\} ${state[1]}`,
            ),
          );
      expect(ofWorker).toMatch(/router_build_info\{version="\d[^"]*",revision="[^"]+",node="\d[^"]*"\} 1/);
    });
  });

  it('show live runs while they are live', async () => {
    const startedMs = performance.now();
    // The other runs wait for this one until they have been seen.
    const first = await caller.submit(model, sized(unending));
    const others = await Promise.all([1, 2].map((index) => caller.submit(model, sized(`slow ${index}`))));
    const seen = await waitFor(
      async () => {
        const text = await scrape(worker);
        return /router_inflight_runs\{provider="bfl",state="parked"\} [12]/.test(text) && text;
      },
      { withinMs: 30_000, what: 'parked runs in the gauges', everyMs: 20 },
    );
    const oldest = /^router_queue_oldest_job_age_seconds\{queue="parked"\} (\S+)$/m.exec(seen)?.[1];
    expect(Number(oldest)).toBeGreaterThan(0);
    expect(Number(oldest)).toBeLessThan((performance.now() - startedMs) / 1000);
    expect(Number(/^router_held_dollars (\S+)/m.exec(seen)?.[1])).toBeGreaterThan(0);
    await waitFor(
      async () => (await system.provider.ledger()).some(({ prompt }) => prompt.includes('takes')),
      {
        withinMs: 30_000,
        what: 'the submission of the slow run',
      },
    );
    await system.provider.finish();
    await Promise.all([first, ...others].map((run) => caller.completed(run)));
    await waitFor(async () => /^router_held_dollars 0$/m.test(await scrape(worker)), {
      withinMs: 30_000,
      what: 'gauges of an idle service',
    });
  });

  it('get no new series from made-up paths, models, runs, methods and keys', async () => {
    await wander(caller, 1);
    const before = seriesOf(await scrape(gateway));
    await wander(caller, 2);
    const after = seriesOf(await scrape(gateway));
    expect(after.filter((series) => !before.includes(series))).toEqual([]);
    expect(after.length).toBeLessThan(1_000);
  });

  it('include one log line for each call and one for each run, with only the allowed fields', async () => {
    const finished = () => linesOf(worker).filter(({ msg }) => msg === 'run finished');
    await soon('the log lines of all runs', () => expect(finished().length).toBeGreaterThanOrEqual(6));
    const calls = linesOf(gateway).filter(({ msg }) => msg === 'call');
    const ids = calls.map((line) => line['request_id']);
    expect(new Set(ids).size).toBe(ids.length);
    const runs = finished();
    expect(runs.length).toBe(6);
    expect(new Set(runs.map((line) => line['run_id'])).size).toBe(6);
    const always = ['app', 'level', 'msg', 'time'];
    expect(fieldsOf(calls)).toEqual(
      [
        ...always,
        'client_address',
        'error_type',
        'method',
        // Only of calls that failed.
        'model',
        'ms',
        'request_id',
        'route',
        'run_id',
        'status',
        'workspace_id',
      ].sort(),
    );
    expect(fieldsOf(runs)).toEqual(
      [
        ...always,
        'basis',
        'billed_micros',
        'call_id',
        'delivery',
        'model',
        'outcome',
        'phases_ms',
        'run_id',
        'workspace_id',
      ].sort(),
    );
  });

  it('all have our prefix', async () => {
    const families = (await Promise.all([gateway, worker].map(scrape))).flatMap(familiesOf);
    expect(families.filter((name) => !name.startsWith('router_'))).toEqual([]);
    expect(families).toContain('router_process_cpu_seconds_total');
    expect(families).toContain('router_nodejs_eventloop_lag_p99_seconds');
  });

  it('have the same backlog on gateways as on workers, and no 0 of what a process does not measure', async () => {
    const backlog = [
      'router_committed_dollars',
      'router_held_dollars',
      'router_outbox_oldest_age_seconds',
      'router_webhook_oldest_due_seconds',
      'router_database_oldest_transaction_seconds',
      'router_queue_oldest_job_age_seconds{queue="parked"}',
      'router_queue_jobs{queue="dispatch",state="waiting"}',
      'router_provider_state{provider="bfl",state="ready"}',
      'router_ready',
    ];
    await soon('the gauges', async () => {
      const [ofGateway, ofWorker] = (await Promise.all([gateway, worker].map(scrape))).map(seriesOf);
      expect(ofGateway).toEqual(expect.arrayContaining(backlog));
      expect(ofWorker).toEqual(expect.arrayContaining(backlog));
      expect(ofGateway).toContain('router_held_calls');
      expect(ofWorker).not.toContain('router_held_calls');
      expect(ofWorker).not.toContain('router_status_streams');
    });
    for (const app of [gateway, worker]) expect(await scrape(app)).toMatch(/^router_ready 1$/m);
  });

  it('report the last backup once one is recorded, and nothing before', async () => {
    const name = 'router_last_backup_timestamp_seconds';
    for (const app of [gateway, worker]) expect(await scrape(app)).not.toMatch(new RegExp(`^${name} `, 'm'));
    await system.sql(`SELECT record_backup('backup:test', '{}', to_timestamp(1700000000))`);
    await soon('the gauges', async () => {
      for (const app of [gateway, worker]) {
        const text = await scrape(app);
        expect(text).toMatch(new RegExp(`^${name} 1700000000$`, 'm'));
        expect(text).not.toMatch(/^router_backup_log_streaming /m);
      }
    });
  });

  it('match the metrics in the operator’s guide', async () => {
    const served = new Set(
      (await Promise.all([gateway, worker].map(scrape))).flatMap(familiesOf).filter((name) => isOurs(name)),
    );
    const [text = ''] = textOf('docs/operations/metrics.md').split('### Histograms');
    const described = [...text.matchAll(/^\| `(router_\w+)`/gm)];
    expect(described.map(([, name = '']) => name).sort()).toEqual([...served].sort());
  });

  it('match the histograms in the operator’s guide', async () => {
    // Store and webhook calls are not made here, so their histograms have no series.
    const served = (await Promise.all([gateway, worker].map(scrape))).join('\n');
    const [, text = ''] = textOf('docs/operations/metrics.md').split('### Histograms');
    const rows = [...text.matchAll(/^\| `(router_\w+)` +\| (\S+ m?s) to (\S+ m?s) +\| (\d+) +\|$/gm)];
    expect(rows).toHaveLength(8);
    const described = rows.flatMap(([, name = '', first = '', last = '', series = '']) =>
      served.includes(`${name}_bucket{`)
        ? [{ name, first: inSeconds(first), last: inSeconds(last), series: Number(series) }]
        : [],
    );
    expect(described.length).toBeGreaterThanOrEqual(6);
    expect(described).toEqual(
      described.map(({ name }) => {
        const bounds = new Set(
          [...served.matchAll(new RegExp(`^${name}_bucket\\{.*?le="([^"]+)"`, 'gm'))].map(([, le]) =>
            Number(le),
          ),
        );
        const finite = [...bounds].filter((bound) => Number.isFinite(bound));
        return { name, first: Math.min(...finite), last: Math.max(...finite), series: finite.length + 3 };
      }),
    );
  });

  describeWith('checked by Prometheus’ own linter', () => {
    it.each(['gateway', 'worker'] as const)('pass for the %s', async (name) => {
      const input = await scrape(name === 'gateway' ? gateway : worker);
      // The client library's default metrics keep their well-known names after the prefix, some of which the linter objects to.
      const ours = input
        .split('\n')
        .filter((line) => isOurs(line.replace(/^# \w+ /, '')))
        .join('\n');
      expect(
        execFileSync(tools.promtool, ['check', 'metrics'], { input: `${ours}\n`, encoding: 'utf8' }),
      ).toBe('');
    });
  });
});

failOnLeftovers();
