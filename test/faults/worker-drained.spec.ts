import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports, waitFor } from '../harness/index.js';

const runCount = 50;
const takesMs = 600_000;

describe.each(transports().slice(0, 1))(
  'SIGTERM of a worker with 50 submitted runs outstanding on %s',
  (transport) => {
    let system: System;

    beforeAll(async () => {
      system = await System.start({ transport, workers: 2, takesMs });
    });
    afterAll(() => system.stop());

    it('exits with 0 in under 10 s, the other worker keeps polling all of them, and no job stalls', async () => {
      const caller = await system.caller({ inflightLimit: runCount });
      const runs = await Promise.all(
        Array.from({ length: runCount }, (_, index) => {
          // For every tenth run the first poll gets no answer, so that it is in flight when the worker is told to
          // stop.
          const hangs = index % 10 === 0 ? ' [[sim:hang_poll=1]]' : '';
          return caller.submit('bfl/flux-2-pro', `{"prompt":"${index} [[sim:tag=drained]]${hangs}"}`);
        }),
      );
      const entries = () => system.provider.ledger('drained');
      await waitFor(
        async () => {
          const ledger = await entries();
          return ledger.length === runCount && ledger.every((entry) => entry.pollCount > 0);
        },
        { withinMs: 40_000, what: 'all runs to be polled', everyMs: 100 },
      );

      const [leaver] = system.workers;
      if (!leaver) throw new Error('no worker');
      system.forget(leaver);
      const startedAtMs = performance.now();
      expect(await leaver.stop()).toBe(0);
      const tookMs = performance.now() - startedAtMs;
      expect(tookMs).toBeLessThan(10_000);
      process.stdout.write(`drained in ${Math.round(tookMs)} ms\n`);

      const before = new Map((await entries()).map((entry) => [entry.id, entry.pollCount]));
      await waitFor(
        async () => (await entries()).every((entry) => entry.pollCount > (before.get(entry.id) ?? 0)),
        {
          withinMs: 40_000,
          what: 'all runs to be polled again',
          everyMs: 100,
        },
      );
      expect(await stalls(system)).toEqual({ jobs: runCount, stalled: 0 });

      await system.provider.advance(takesMs);
      await holdToInvariants(system);
      const results = await Promise.all(runs.map((run) => caller.collect(run)));
      expect(results.filter((result) => result.status !== 200)).toEqual([]);
      expect((await entries()).length).toBe(runCount);
    });
  },
);

it('SIGTERM of a worker waits, beyond the lease, for a submission in flight whose reply is the result', async () => {
  const [transport = 'postgres'] = transports();
  const workerEnv = { CLAIM_LEASE_MS: '5000', WORKER_CLOSE_MS: '40000' };
  const system = await System.start({ transport, workers: 0 });
  try {
    const caller = await system.caller();
    const leaver = await system.startWorker(workerEnv);
    const run = await caller.submit(
      'ideogram/ideogram-v3',
      '{"prompt":"[[sim:tag=in-the-air]] [[sim:takes=12000]]"}',
    );
    await waitFor(async () => (await system.sql(`SELECT FROM run WHERE stage = 'submitting'`)).length === 1, {
      withinMs: 30_000,
      what: 'the submission',
      everyMs: 50,
    });
    await system.startWorker(workerEnv);
    system.forget(leaver);
    expect(await leaver.stop(45_000)).toBe(0);
    expect((await caller.completed(run))['error_type']).toBeUndefined();
    expect((await system.provider.ledger('in-the-air')).length).toBe(1);
    await holdToInvariants(system);
  } finally {
    await system.stop();
  }
});

it('SIGTERM of a worker with a submission in flight leaves polls to other workers at once, and it is not ready', async () => {
  const [transport = 'postgres'] = transports();
  const system = await System.start({ transport, workers: 0, takesMs });
  try {
    const caller = await system.caller();
    const leaver = await system.startWorker({ WORKER_CLOSE_MS: '40000' });
    const polled = await caller.submit('bfl/flux-2-pro', '{"prompt":"[[sim:tag=polled]]"}');
    const run = await caller.submit('ideogram/ideogram-v3', '{"prompt":"[[sim:takes=12000]]"}');
    const polls = async () => (await system.provider.ledger('polled'))[0]?.pollCount ?? 0;
    await waitFor(
      async () =>
        (await polls()) > 0 && (await system.sql(`SELECT FROM run WHERE stage = 'submitting'`)).length === 1,
      { withinMs: 30_000, what: 'a poll and the submission', everyMs: 50 },
    );
    const before = await polls();
    system.forget(leaver);
    const stopped = leaver.stop(45_000);
    // It takes no run, so it must not count as a worker that is ready.
    await waitFor(
      async () => {
        const answers = ['health/ready', 'metrics'].map((path) => fetch(`${leaver.internalUrl}/${path}`));
        const [probe, scrape] = await Promise.all(answers);
        return probe?.status === 503 && /^router_ready 0$/m.test((await scrape?.text()) ?? '');
      },
      { withinMs: 10_000, what: 'the stopping worker to be not ready', everyMs: 50 },
    );
    expect(await stopped).toBe(0);
    // One poll was in flight; the submission took longer than ten polls.
    expect((await polls()) - before).toBeLessThanOrEqual(1);
    // Another worker copies its assets too.
    await system.startWorker();
    expect((await caller.completed(run))['error_type']).toBeUndefined();
    await system.provider.advance(takesMs);
    await caller.completed(polled);
    await holdToInvariants(system);
  } finally {
    await system.stop();
  }
});

/** The polled runs, and how many of them were taken over from a dead worker. */
async function stalls(system: System): Promise<{ jobs: number; stalled: number }> {
  if (!system.redis) {
    const [row] = await system.sql<{ jobs: number; stalled: number }>(
      `SELECT count(*)::integer AS jobs, count(*) FILTER (WHERE attempts > 1)::integer AS stalled FROM outbox WHERE queue = 'poll'`,
    );
    return row ?? { jobs: 0, stalled: 0 };
  }
  const redis = new Redis(system.redis.url, { maxRetriesPerRequest: 1 });
  try {
    const keys = (await redis.keys('*')).filter((key) => /poll.*:[0-9a-f-]{36}$/.test(key));
    const counts = await Promise.all(keys.map((key) => redis.hget(key, 'stc')));
    return { jobs: keys.length, stalled: counts.filter((count) => count !== null).length };
  } finally {
    redis.disconnect();
  }
}

failOnLeftovers();
