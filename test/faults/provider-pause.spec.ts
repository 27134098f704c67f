import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf } from '../admin/run-admin.js';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

interface Listed {
  providers: {
    provider: string;
    pauses: { calls: string; asked_by: string; since: string; until: string | null; reason: string }[];
    waiting: number;
    under_way: number;
  }[];
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

  it('lets runs wait, polls on what is under way, and leaves the other providers alone', async () => {
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
    expect(await listed('bfl')).toEqual([
      {
        provider: 'bfl',
        has_key: true,
        slots: expect.any(Number),
        last_day: { runs: 1, failed: 0 },
        pauses: [
          {
            calls: 'submit',
            asked_by: 'operator',
            since: expect.any(String),
            until: null,
            reason: 'a test',
          },
        ],
        waiting: 3,
        under_way: 0,
      },
    ]);
    expect(await system.provider.ledger()).toHaveLength(2);
    // They are held, not failed: a claim that breaks would keep them from being sent as well.
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
    // By the service's own clock: how long a command takes to start says nothing.
    expect(waited?.ms).toBeLessThan(15_000);
    expect(await listed('bfl')).toMatchObject([{ pauses: [], waiting: 0, under_way: 0 }]);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
