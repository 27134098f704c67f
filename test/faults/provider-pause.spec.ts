import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

interface Listed {
  providers: { provider: string }[];
}

describe('admin provider pause', () => {
  let system: System;
  let caller: Caller;
  const admin = <T>(...words: string[]) =>
    answerOf<T>({ DATABASE_URL: system.database.url }, 'provider', ...words);
  const listed = async (name: string) =>
    (await admin<Listed>('list')).providers.filter(({ provider }) => provider === name);
  const submit = (model: string, text: string) => caller.submit(model, JSON.stringify({ prompt: text }));

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    system = await System.start({ transport, takesMs: 1_500 });
    caller = await system.caller({ inflightLimit: 100 });
  });
  afterAll(() => system.stop());

  it('makes runs wait, keeps polling submitted runs, and does not affect other providers', async () => {
    const underWay = await submit('bfl/flux-2-pro', 'under way');
    await waitFor(async () => (await system.provider.ledger()).length === 1, {
      withinMs: 30_000,
      what: 'the submission',
    });
    expect(await admin('pause', 'bfl', '--reason', 'a test')).toEqual({
      provider: 'bfl',
      paused: true,
      reason: 'a test',
    });
    const paused = await Promise.all([1, 2, 3].map((each) => submit('bfl/flux-2-pro', `paused ${each}`)));
    const other = await submit('fal/flux-dev', 'other');
    await Promise.all([caller.completed(underWay), caller.completed(other)]);
    expect((await caller.status(paused[0] as (typeof paused)[number])).json()['status']).toBe('IN_QUEUE');
    expect(await listed('bfl')).toMatchObject([
      {
        provider: 'bfl',
        has_key: true,
        last_day: { requests: 1, succeeded: 1 },
        pauses: [{ calls: 'submit', asked_by: 'operator', since: expect.any(String), reason: 'a test' }],
        pressure: { waiting: { runs: 3 }, under_way: { runs: 0 } },
      },
    ]);
    expect(await system.provider.ledger()).toHaveLength(2);
    // The runs wait and do not fail: a broken claim would also keep them from being sent.
    expect(system.workers.map((worker) => worker.logs()).join('')).not.toMatch(
      /structure of query|"level":50/,
    );

    await admin('resume', 'bfl');
    const [resumed] = await system.sql<{ at: Date }>('SELECT clock_timestamp() AS at');
    await Promise.all(paused.map((run) => caller.completed(run, 60_000)));
    const [waited] = await system.sql<{ ms: number }>(
      `SELECT 1000 * extract(epoch FROM max(completed_at) - $1)::float AS ms FROM run WHERE id = ANY($2)`,
      [resumed?.at, paused.map(({ requestId }) => requestId)],
    );
    // Measured by the service's own clock, because the start-up time of a command does not matter here.
    expect(waited?.ms).toBeLessThan(15_000);
    expect(await listed('bfl')).toMatchObject([
      { pauses: [], pressure: { waiting: { runs: 0 }, under_way: { runs: 0 } } },
    ]);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
