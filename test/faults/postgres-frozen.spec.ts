import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, least, residentBytes, System } from '../harness/faults.js';
import { type Answer, failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { ended, freeze } from './postgres-side.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/bfl/flux-2-pro/requests';
const roomy = { inflightLimit: 100, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };
/** One bounded wait for a connection and one for an answer, with a margin for two busy cores. */
const boundMs = 12_000;
const callers = 3;
/** Several batches of admissions; calls in the second batch must not wait for both time limits in sequence. */
const callsEach = 150;

describe.each(transports().slice(0, 1))('a frozen Postgres, on %s', (transport) => {
  let system: System;
  let gateway: App;
  beforeAll(async () => {
    system = await System.start({ transport, ownPostgres: true });
    gateway = system.gateways[0] as App;
  });
  afterAll(() => system.stop());

  it('causes 503 in bounded time, no readiness and no growth, and everything recovers by itself', async () => {
    const spaces = await Promise.all(Array.from({ length: callers }, () => system.caller(roomy)));
    // After this the credentials are cached and the pools are full.
    await waitFor(async () => (await flood(spaces, 'before', 5)).every(isAdmitted), {
      withinMs: 20_000,
      what: 'the first runs to be admitted',
    });
    const before = residentBytes(gateway);

    const goOn = freeze(system.postgres);
    let calls: Awaited<ReturnType<typeof flood>> = [];
    const slowestMs = await least(boundMs, async () => {
      calls = await flood(spaces, 'frozen', callsEach);
      return Math.max(...calls.map((call) => call.tookMs));
    });
    const readiness = await fetch(`${gateway.url}/health/ready`, { signal: AbortSignal.timeout(boundMs) });
    await readiness.body?.cancel();
    const live = await fetch(`${gateway.url}/health/live`, { signal: AbortSignal.timeout(boundMs) });
    await live.body?.cancel();
    const grownMib = (residentBytes(gateway) - before) / 1024 / 1024;
    goOn();

    process.stdout.write(
      `frozen: ${calls.length} calls, slowest ${slowestMs.toFixed(0)} ms, grown ${grownMib.toFixed(0)} MiB\n`,
    );
    expect(new Set(calls.map(({ answer }) => `${answer.status} ${answer.bucket}`))).toEqual(
      new Set(['503 service_unavailable']),
    );
    expect(slowestMs).toBeLessThan(boundMs);
    expect([readiness.status, live.status]).toEqual([503, 200]);
    expect(grownMib).toBeLessThan(150);

    await waitFor(async () => (await fetch(`${gateway.url}/health/ready`)).status === 200, {
      withinMs: 20_000,
      what: 'the gateway to be ready again',
    });
    // The retry of each call finds the run that the thawed sessions still wrote, or creates it now.
    await waitFor(
      async () => {
        const retried = await flood(spaces, 'frozen', callsEach);
        const statuses = new Set(retried.map(({ answer }) => answer.status));
        expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
        return !statuses.has(503);
      },
      { withinMs: 45_000, what: 'every retry to be admitted' },
    );
    for (const space of spaces) {
      const rows = await system.sql('SELECT id FROM run WHERE workspace_id = $1', [space.workspaceId]);
      expect(rows).toHaveLength(5 + callsEach);
    }
    await holdToInvariants(system, 90_000);
    expect(ended(system.apps)).toEqual([]);
  });

  it('makes status and collect answer 503 in bounded time, and as before afterwards', async () => {
    const caller = await system.caller(roomy);
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"asked about"}');
    await caller.completed(run);
    const goOn = freeze(system.postgres);
    let during: Answer[] = [];
    const slowestMs = await least(boundMs, async () => {
      const calls = await Promise.all([
        timed(() => caller.status(run)),
        timed(() => caller.collect(run)),
        timed(() => caller.cancel(run)),
      ]);
      during = calls.map(({ answer }) => answer);
      return Math.max(...calls.map(({ tookMs }) => tookMs));
    });
    goOn();
    for (const answer of during) expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
    expect(slowestMs).toBeLessThan(boundMs);
    await waitFor(async () => (await caller.collect(run)).status === 200, {
      withinMs: 20_000,
      what: 'the result',
    });
  });
});

failOnLeftovers();

/** Each caller makes its calls at once, with unique keys; a second flood with the same name is their retry. */
async function flood(spaces: readonly TestCaller[], name: string, each: number) {
  return Promise.all(
    spaces.flatMap((space, at) =>
      Array.from({ length: each }, (_each, index) =>
        timed(() =>
          space.call('POST', path, {
            // White space is stored with the input: the bodies are large enough to show if they pile up.
            body: JSON.stringify({ prompt: `${name} ${at} ${index}` }) + ' '.repeat(20_000),
            headers: { 'idempotency-key': `${name}-${index}` },
            withinMs: 60_000,
          }),
        ),
      ),
    ),
  );
}

const isAdmitted = ({ answer }: { answer: Answer }): boolean => answer.status === 201;

async function timed(act: () => Promise<Answer>): Promise<{ answer: Answer; tookMs: number }> {
  const startMs = performance.now();
  const answer = await act();
  return { answer, tookMs: performance.now() - startMs };
}
