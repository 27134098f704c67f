import { describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, least, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, type TransportKind, waitFor } from '../harness/index.js';
import { clockOff, fakeTimeLibrary } from './faketime.js';
import { onEveryTransport, quick } from './worker-faults.js';

const batch = 10;
const takesMs = 4000;
/** How often this partner is asked about a run. */
const pollEveryMs = 500;
const library = fakeTimeLibrary();

/** From the first submission of a batch of runs to the last outcome, in milliseconds; none is polled too often. */
async function course(
  system: System,
  caller: Caller,
  tag: string,
  meanwhile?: () => Promise<void>,
): Promise<number> {
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
  const polls = ledger.reduce((sum, entry) => sum + entry.pollCount, 0) / batch;
  expect(polls).toBeLessThan(tookMs / pollEveryMs + 2);
  return tookMs;
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
    { withinMs: 30_000, what: 'the run to be at the partner' },
  );
  const status = await caller.completed(run);
  expect(status['error_type']).toBe('provider_timeout');
  const [row] = await system.sql<{ late: number }>(
    `SELECT (extract(epoch FROM completed_at - deadline_at) * 1000)::float AS late FROM run WHERE id = $1`,
    [run.requestId],
  );
  expect(row?.late).toBeGreaterThanOrEqual(0);
  return row?.late ?? Infinity;
}

async function besideWrongClocks(transport: TransportKind): Promise<void> {
  const system = await System.start({ transport, workers: 1, env: quick });
  try {
    const caller = await system.caller({ inflightLimit: batch + 1 });
    const normalMs = await course(system, caller, 'normal');
    let wrong: App[] = [];
    const startWrong = async () => {
      if (wrong.length > 0) return;
      wrong = await Promise.all([
        system.startWorker(clockOff(library ?? '', '+10m')),
        system.startWorker(clockOff(library ?? '', '-10m')),
      ]);
    };
    await startWrong();
    const [besideMs, lateMs] = await Promise.all([
      least(normalMs + 4000, (attempt) => course(system, caller, `beside-${attempt}`)),
      least(2000, () => lateness(system, caller)),
    ]);
    // What they have put off comes back in time also when they are gone.
    const bereftMs = await least(normalMs + 8000, async (attempt) => {
      await startWrong();
      const tag = `bereft-${attempt}`;
      return course(system, caller, tag, async () => {
        await waitFor(
          async () => {
            const ledger = await system.partner.ledger(tag);
            return ledger.length === batch && ledger.every((entry) => entry.pollCount > 1);
          },
          { withinMs: 20_000, what: 'the first polls' },
        );
        await Promise.all(wrong.splice(0).map((worker) => system.kill(worker)));
      });
    });
    process.stdout.write(`${transport}: ${JSON.stringify({ normalMs, besideMs, bereftMs, lateMs })}\n`);

    expect(besideMs).toBeLessThan(normalMs + 4000);
    expect(bereftMs).toBeLessThan(normalMs + 8000);
    expect(lateMs).toBeLessThan(2000);
    await holdToInvariants(system);
  } finally {
    await system.stop();
  }
}

(library ? describe : describe.skip)('workers whose clocks are ten minutes off', () => {
  it('neither poll in a storm nor let runs starve, and deadlines follow the database', async () => {
    await onEveryTransport(besideWrongClocks);
  });
});

failOnLeftovers();
