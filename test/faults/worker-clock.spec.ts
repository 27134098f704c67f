import { describe, expect, it } from '@jest/globals';
import {
  type Caller,
  failOnLeftovers,
  holdToInvariants,
  System,
  type TransportKind,
  waitFor,
} from '../harness/index.js';
import { clockOff, fakeTimeLibrary } from './faketime.js';
import { onEveryTransport, quick } from './worker-faults.js';

const batch = 10;
const takesMs = 4000;
/** How often this partner is asked about a run. */
const pollEveryMs = 500;
const library = fakeTimeLibrary();

/** What a batch of runs looked like from outside. */
interface Course {
  /** Polls of one run, on average. */
  polls: number;
  /** From the first submission to the last outcome. */
  tookMs: number;
}

async function course(
  system: System,
  caller: Caller,
  tag: string,
  meanwhile?: () => Promise<void>,
): Promise<Course> {
  const startedAtMs = performance.now();
  const runs = await Promise.all(
    Array.from({ length: batch }, (_, index) =>
      caller.submit('bfl/flux-2-pro', `{"prompt":"${index} [[sim:takes=${takesMs}]][[sim:tag=${tag}]]"}`),
    ),
  );
  await meanwhile?.();
  await Promise.all(runs.map((run) => caller.completed(run, 60_000)));
  const tookMs = performance.now() - startedAtMs;
  const ledger = await system.partner.ledger(tag);
  return { polls: ledger.reduce((sum, entry) => sum + entry.pollCount, 0) / batch, tookMs };
}

/** How many milliseconds after its deadline a run that would take for ever ends. */
async function lateness(system: System, caller: Caller): Promise<number> {
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"for ever [[sim:takes=600000]]"}');
  await waitFor(
    async () =>
      (
        await system.sql(
          `UPDATE run SET deadline_at = clock_timestamp() + interval '3 seconds' WHERE id = $1 AND stage = 'running' RETURNING id`,
          [run.requestId],
        )
      ).length === 1,
    { withinMs: 10_000, what: 'the run to be at the partner' },
  );
  const status = await caller.completed(run);
  expect(status['error_type']).toBe('provider_timeout');
  const [row] = await system.sql<{ late: number }>(
    `SELECT (extract(epoch FROM completed_at - deadline_at) * 1000)::float AS late FROM run WHERE id = $1`,
    [run.requestId],
  );
  return row?.late ?? Infinity;
}

async function besideWrongClocks(transport: TransportKind): Promise<void> {
  const system = await System.start({ transport, workers: 1, env: quick });
  try {
    const caller = await system.caller({ inflightLimit: batch + 1 });
    const normal = await course(system, caller, 'normal');
    const wrong = await Promise.all([
      system.startWorker(clockOff(library ?? '', '+10m')),
      system.startWorker(clockOff(library ?? '', '-10m')),
    ]);
    const [beside, lateMs] = await Promise.all([course(system, caller, 'beside'), lateness(system, caller)]);
    // What they have put off comes back in time also when they are gone.
    const bereft = await course(system, caller, 'bereft', async () => {
      await waitFor(
        async () => (await system.partner.ledger('bereft')).every((entry) => entry.pollCount > 1),
        { withinMs: 10_000, what: 'the first polls' },
      );
      await Promise.all(wrong.map((worker) => system.kill(worker)));
    });
    process.stdout.write(`${transport}: ${JSON.stringify({ normal, beside, bereft, lateMs })}\n`);

    for (const each of [normal, beside, bereft])
      expect(each.polls).toBeLessThan(each.tookMs / pollEveryMs + 2);
    expect(beside.tookMs).toBeLessThan(normal.tookMs + 4000);
    expect(bereft.tookMs).toBeLessThan(normal.tookMs + 8000);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(2000);
    await holdToInvariants(system);
  } finally {
    await system.stop();
  }
}

(library ? describe : describe.skip)('workers whose clocks are ten minutes off', () => {
  it('neither poll in a storm nor let runs starve, and deadlines follow the database', async () => {
    await onEveryTransport(besideWrongClocks);
  }, 120_000);
});

failOnLeftovers();
