import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { type Claimed, leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { cents, failed, succeeded, testModel } from '../testing/runs.js';

const pairs = 100;
const batch = 50;

let blocker: Client;
// Before the database is dropped.
afterAll(() => blocker.end());
const fixture = await openRunFixture();

beforeAll(async () => {
  blocker = new Client({ connectionString: fixture.database.url });
  await blocker.connect();
});

type Act<Result> = (run: Claimed) => Promise<Result>;

const ask: Act<string | null> = async ({ spaceId, runId }) => {
  const answer = await fixture.first.runs.requestCancel(spaceId, testModel, runId);
  return answer === null || answer === 'aged_out' ? answer : answer.found;
};
const leave: Act<string> = async ({ runId }) => (await fixture.first.heldRuns.releaseRun(runId, true)).found;
const begin: Act<boolean> = ({ runId, epoch }) =>
  fixture.second.dispatch.beginSubmission(runId, epoch, leaseMs);
const succeed: Act<boolean> = async ({ runId, epoch }) =>
  (await fixture.second.finish(runId, epoch, succeeded)).won;
const fail: Act<boolean> = async ({ runId, epoch }) =>
  (await fixture.second.finish(runId, epoch, failed('provider_error'))).won;

/** The outcomes in the given order. Null for a live run. */
const outcomesOf = async (runs: readonly Claimed[]): Promise<(string | null)[]> => {
  const rows = await fixture.first.sql<{ outcome: string | null }>(
    'SELECT outcome FROM unnest($1::uuid[]) WITH ORDINALITY AS raced (id, place) JOIN run USING (id) ORDER BY place',
    [runs.map(({ runId }) => runId)],
  );
  return rows.map(({ outcome }) => outcome);
};

const waiting = (sessions: number) =>
  waitFor(async () => (await fixture.second.waiting()) === sessions, {
    withinMs: 15_000,
    what: `${sessions} sessions to wait`,
    everyMs: 1,
  });

/**
 * Starts one action and then the other while another session locks the row of the run, so that they wait in this
 * order.
 */
async function inTurn(
  run: Claimed,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<void> {
  await blocker.query('BEGIN');
  await blocker.query('SELECT FROM run WHERE id = $1 FOR UPDATE', [run.runId]);
  const first = one();
  await waiting(1);
  const second = other();
  await waiting(2);
  await blocker.query('COMMIT');
  await Promise.all([first, second]);
}

interface Race {
  what: string;
  from: 'claimed' | 'running';
  withdraw: Act<string | null>;
  against: Act<boolean>;
  /** The result of the withdrawal and the run's outcome, by whether the other action won. */
  lost: [answer: string, outcome: string | null];
  won: [answer: string, outcome: string | null];
}

const races: Race[] = [
  {
    what: 'a cancellation and the beginning of the submission: a cancelled run is not sent',
    from: 'claimed',
    withdraw: ask,
    against: begin,
    lost: ['waiting', 'cancelled'],
    won: ['dispatched', null],
  },
  {
    what: 'a cancellation and the end of a run that was not sent: one of them becomes the outcome',
    from: 'claimed',
    withdraw: ask,
    against: fail,
    lost: ['waiting', 'cancelled'],
    won: ['completed', 'failed'],
  },
  {
    what: 'a disconnected held call and the beginning of the submission: a withdrawn run is not sent',
    from: 'claimed',
    withdraw: leave,
    against: begin,
    lost: ['withdrawn', 'cancelled'],
    won: ['going_on', null],
  },
];

describe.each(races)('$what', ({ from, withdraw, against, lost, won }) => {
  it('whichever of the two comes first', async () => {
    for (const order of ['withdrawn first', 'withdrawn last'] as const) {
      const run = await fixture.run(from);
      let answer: string | null = null;
      let other: boolean | undefined;
      const withdrawing = async () => (answer = await withdraw(run));
      const acting = async () => (other = await against(run));
      await (order === 'withdrawn first'
        ? inTurn(run, withdrawing, acting)
        : inTurn(run, acting, withdrawing));
      expect(other).toBe(order === 'withdrawn last');
      expect([answer, ...(await outcomesOf([run]))]).toEqual(other === true ? won : lost);
    }
  });

  it(`in each of ${pairs} pairs in random order`, async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(1000) });
    const seen = await raced(spaceId, from, withdraw, against);
    const outcomes = await outcomesOf(seen.map(({ run }) => run));
    for (const [index, { answer, other }] of seen.entries()) {
      expect([answer, outcomes[index]]).toEqual(other ? won : lost);
    }
    expect(await fixture.first.outbox.drift()).toEqual([]);
    expect(await fixture.counters(spaceId)).toMatchObject({ balance: cents(1000), backlog: 0 });
  });
});

describe('a cancellation and the completion of a sent run: the result is kept, and the answer is correct', () => {
  it('whichever of the two comes first', async () => {
    for (const order of ['cancelled first', 'cancelled last'] as const) {
      const run = await fixture.run('running');
      let answer: string | null = null;
      const asking = async () => (answer = await ask(run));
      const ending = () => succeed(run);
      await (order === 'cancelled first' ? inTurn(run, asking, ending) : inTurn(run, ending, asking));
      expect([answer, ...(await outcomesOf([run]))]).toEqual([
        order === 'cancelled first' ? 'dispatched' : 'completed',
        'succeeded',
      ]);
    }
  });

  it(`in each of ${pairs} pairs in random order`, async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(1000) });
    const seen = await raced(spaceId, 'running', ask, succeed);
    for (const { answer, other } of seen) {
      expect(other).toBe(true);
      expect(['dispatched', 'completed']).toContain(answer);
    }
    expect(new Set(await outcomesOf(seen.map(({ run }) => run)))).toEqual(new Set(['succeeded']));
    expect(await fixture.first.outbox.drift()).toEqual([]);
    expect(await fixture.counters(spaceId)).toMatchObject({
      inflight: 0,
      held: 0,
      balance: cents(1000 - pairs),
    });
  });
});

/** Each pair runs concurrently on two connections, half of them in reverse order. */
async function raced<Answer>(
  spaceId: string,
  from: 'claimed' | 'running',
  withdraw: Act<Answer>,
  against: Act<boolean>,
): Promise<{ run: Claimed; answer: Answer; other: boolean }[]> {
  const seen: { run: Claimed; answer: Answer; other: boolean }[] = [];
  for (let at = 0; at < pairs; at += batch) {
    const runs = await Promise.all(Array.from({ length: batch }, () => fixture.run(from, { spaceId })));
    const raceOf = async (run: Claimed, index: number) => {
      if (index % 2 === 0) {
        const [answer, other] = await Promise.all([withdraw(run), against(run)]);
        return { run, answer, other };
      }
      const [other, answer] = await Promise.all([against(run), withdraw(run)]);
      return { run, answer, other };
    };
    seen.push(...(await Promise.all(runs.map(raceOf))));
  }
  return seen;
}
