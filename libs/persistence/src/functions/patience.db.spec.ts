import { describe, expect, it } from '@jest/globals';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();

const hourMs = 3_600_000;
let cases = 0;
/** Each case has its own provider, because a pause affects all of a provider's runs. */
const nextProvider = () => `provider-${(cases += 1)}`;
/** How long a sweep puts a run off. Null if it keeps waiting. */
const putOffMs = async (runId: string, by = fixture.first) => {
  expect(await fixture.swept(runId, by)).toBeUndefined();
  const [row] = await by.sql<{ restMs: number | null }>(
    `SELECT CASE WHEN due_at < 'infinity' THEN extract(epoch FROM due_at - router_now())::float * 1000 END AS "restMs"
     FROM outbox WHERE run_id = $1`,
    [runId],
  );
  return row?.restMs ?? null;
};
/** Puts a run off by a sweep, and expects that no worker can take it. */
const held = async (runId: string, by = fixture.first) => {
  const restMs = await putOffMs(runId, by);
  if (restMs === null) throw new Error('The run keeps waiting');
  expect(await takenBy(runId, by)).toBeUndefined();
  return restMs;
};
/** The run, as a worker that looks at its line takes it. */
const takenBy = async (runId: string, by = fixture.first) => {
  const [row] = await by.sql<{ provider: string }>('SELECT provider FROM run WHERE id = $1', [runId]);
  const looked = { held: new Map<string, number>(), maxHeld: 100, most: 10, leaseMs };
  return (await by.dispatch.takeRuns(row?.provider ?? '', looked)).find((each) => each.runId === runId);
};
describe('a run with patience', () => {
  it('ends at once if the pause outlasts it, and only then', async () => {
    const patience = { budgetMs: hourMs, runFacts: { patienceMs: 15_000 } };
    const spaceId = await fixture.space();
    const [long, short] = [nextProvider(), nextProvider()];
    const [ended, waiting] = [
      await fixture.first.run(spaceId, { provider: long, ...patience }),
      await fixture.first.run(spaceId, { provider: short, ...patience }),
    ];
    await fixture.first.pauses.pauseFor(long, 'submit', hourMs, 'HTTP 429');
    await fixture.first.pauses.pauseFor(short, 'submit', 5_000, 'HTTP 429');
    expect(await fixture.swept(ended)).toMatchObject({ kind: 'spent' });
    expect(await held(waiting)).toBeLessThanOrEqual(7_500);
    const later = fixture.at('8 seconds');
    expect(await putOffMs(waiting, later)).toBeNull();
    expect(await takenBy(waiting, later)).toMatchObject({ leftMs: null });
  });

  it('ends its wait with it after a rejection, and leaves its next submission the whole time', async () => {
    const provider = nextProvider();
    const { runId, epoch } = await fixture.run('submitting', {
      provider,
      budgetMs: hourMs,
      runFacts: { patienceMs: 60_000 },
    });
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    await fixture.first.pauses.pauseFor(provider, 'submit', 20_000, 'HTTP 429');
    expect(await held(runId)).toBeLessThanOrEqual(30_000);
    const later = fixture.at('31 seconds');
    expect(await putOffMs(runId, later)).toBeNull();
    await later.pauses.pauseFor(provider, 'submit', 20_000, 'HTTP 429');
    const deadline = Object((await fixture.written(runId))['run'])['deadline_at'];
    await fixture.first.sql(
      `UPDATE run SET dispatched_at = dispatched_at - interval '20 seconds' WHERE id = $1`,
      [runId],
    );
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'spent' });
    expect((await fixture.written(runId))['run']).toMatchObject({ deadline_at: deadline });
  });
});
