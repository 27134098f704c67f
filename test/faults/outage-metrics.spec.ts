import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, unending, waitFor } from '../harness/index.js';
import { freeze } from './postgres-side.js';

/** Prometheus' default scrape timeout is 10 s. */
const maxScrapeMs = 10_000;
const backlog = [
  'router_held_dollars',
  'router_outbox_oldest_age_seconds',
  'router_webhook_oldest_due_seconds',
  'router_database_oldest_transaction_seconds',
  'router_queue_oldest_job_age_seconds',
  'router_inflight_runs',
  'router_provider_state',
];

async function scrape(app: App): Promise<string> {
  const signal = AbortSignal.timeout(maxScrapeMs);
  return (await fetch(`${app.internalUrl}/metrics`, { signal })).text();
}
const valueOf = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
};
const reported = (text: string): string[] =>
  backlog.filter((name) => new RegExp(`^${name}[ {]`, 'm').test(text));

const soon = (app: App, what: string, isTrue: (text: string) => boolean) =>
  waitFor(async () => isTrue(await scrape(app)), { withinMs: 60_000, what, everyMs: 500 });

describe.each(transports().slice(0, 1))('the metrics of a total outage, on %s', (transport) => {
  let system: System;
  let caller: Caller;
  beforeAll(async () => {
    system = await System.start({ transport, workers: 1, ownPostgres: true });
    caller = await system.caller({ inflightLimit: 10 });
  });
  afterAll(() => system.stop());

  it('while Postgres is silent: every process says that it is not ready, and none reports an old backlog', async () => {
    for (const app of system.apps)
      await soon(
        app,
        'a ready process',
        (text) => valueOf(text, 'router_ready') === 1 && reported(text).length >= 5,
      );
    const goOn = freeze(system.postgres);
    try {
      for (const app of system.apps)
        await soon(
          app,
          'no backlog',
          (text) => valueOf(text, 'router_ready') === 0 && reported(text).length === 0,
        );
    } finally {
      goOn();
    }
    for (const app of system.apps)
      await soon(
        app,
        'a ready process',
        (text) => valueOf(text, 'router_ready') === 1 && reported(text).length >= 5,
      );
  });

  it('while all workers are gone: the gateways report the backlog as it grows', async () => {
    await caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: unending }));
    const [gateway] = system.gateways as [App];
    const running = 'router_inflight_runs{provider="bfl",state="running"}';
    await soon(gateway, 'a run at the provider', (text) => valueOf(text, running) === 1);
    await Promise.all(system.workers.map((worker) => worker.kill('SIGKILL')));
    await caller.submit('bfl/flux-2-pro', '{"prompt":"waits for a worker"}');
    for (const each of system.gateways) {
      await soon(each, 'a growing backlog', (text) => {
        const waits = valueOf(text, 'router_queue_oldest_job_age_seconds{queue="dispatch-bfl"}') ?? 0;
        const overdue = valueOf(text, 'router_outbox_oldest_age_seconds') ?? 0;
        return waits > 10 && overdue > 5;
      });
      expect(valueOf(await scrape(each), 'router_inflight_runs{provider="bfl",state="waiting"}')).toBe(1);
    }
  });
});

failOnLeftovers();
