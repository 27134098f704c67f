import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports, waitFor } from '../harness/index.js';
import { dismissWorkers, quickLeases } from './worker-faults.js';

const neighbours = 20;
const crashes = 3;

describe.each(transports())('a run that kills every worker that touches it on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({
      transport,
      workers: 0,
      env: { ...quickLeases, MAX_CRASHES: String(crashes), MAX_POLL_CRASHES: String(crashes) },
    });
  });
  afterEach(() => dismissWorkers(system));
  afterAll(() => system.stop());

  it.each([
    { place: 'dispatch.afterClaim', when: 'before its submission', accepted: 0 },
    { place: 'poll.afterCall', when: 'at each of its polls', accepted: 1 },
  ])('$when ends as internal_error, and its neighbours succeed', async ({ place, accepted }) => {
    const caller = await system.caller({ inflightLimit: neighbours + 1 });
    const poison = await caller.submit('bfl/flux-2-pro', `{"prompt":"poison [[sim:tag=${place}]]"}`);
    const watch = await keepTwoWorkers(system, { FAILPOINT: `${place}(${poison.requestId}):kill` });
    // The first crash identifies no culprit.
    await waitFor(() => watch.deaths() > 0, { withinMs: 30_000, what: 'the first crash' });
    const others = await Promise.all(
      Array.from({ length: neighbours }, (_, index) =>
        caller.submit('bfl/flux-2-pro', `{"prompt":"${index} [[sim:tag=${place}-others]]"}`),
      ),
    );

    const status = await caller.completed(poison, 90_000);
    expect(status['error_type']).toBe('internal_error');
    await Promise.all(others.map((run) => caller.completed(run)));
    const { deaths, inTheAir } = await watch.stop();
    expect(deaths).toBe(crashes);

    expect((await caller.collect(poison)).status).toBe(500);
    // The fate of runs that a dying worker was submitting is unknown.
    const lost = others.filter(({ requestId }) => inTheAir.has(requestId));
    expect(
      await failures(
        system,
        others.filter((run) => !lost.includes(run)),
      ),
    ).toEqual([]);
    expect((await system.provider.ledger(place)).length).toBe(accepted);
    const submitted = (await system.provider.ledger(`${place}-others`)).length;
    expect(submitted).toBeLessThanOrEqual(neighbours);
    expect(submitted).toBeGreaterThanOrEqual(neighbours - lost.length);
    await dismissWorkers(system);
    await holdToInvariants(system);
  });
});

async function failures(system: System, runs: Submitted[]): Promise<unknown[]> {
  return system.sql(`SELECT id, bucket, failure FROM run WHERE outcome <> 'succeeded' AND id = ANY($1)`, [
    runs.map((run) => run.requestId),
  ]);
}

/**
 * Two workers, each replaced when it dies. `stop` returns the number of deaths, and the runs that were being
 * submitted at those moments.
 */
async function keepTwoWorkers(system: System, env: Record<string, string>) {
  let deaths = 0;
  let stopped = false;
  const replacements = new Set<Promise<void>>();
  const inTheAir = new Set<string>();
  // The rows of a dead worker keep their state until their leases lapse.
  const noteSubmissions = async () => {
    for (const { id } of await system.sql<{ id: string }>(`SELECT id FROM run WHERE stage = 'submitting'`))
      inTheAir.add(id);
  };
  const start = async (): Promise<void> => {
    const worker = await system.spawnWorker(env);
    const died = new Promise<void>((resolve) => {
      worker.child.once('exit', (_code, signal) => {
        if (signal !== 'SIGKILL') return;
        deaths += 1;
        system.forget(worker);
        replacements.add(noteSubmissions());
        if (!stopped) replacements.add(start());
        resolve();
      });
    });
    await Promise.race([worker.ready, died]);
  };
  await Promise.all([start(), start()]);
  return {
    deaths: () => deaths,
    stop: async () => {
      stopped = true;
      await Promise.all(replacements);
      return { deaths, inTheAir };
    },
  };
}

failOnLeftovers();
