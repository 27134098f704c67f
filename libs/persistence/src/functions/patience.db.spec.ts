import { describe, expect, it } from '@jest/globals';
import { pausedRuns } from '../testing/paused-runs.js';
import { openRunFixture } from '../testing/run-fixture.js';

const fixture = await openRunFixture();

const hourMs = 3_600_000;
const { nextProvider, putOffMs, held, takenBy } = pausedRuns(fixture);

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
