import { RouterError } from '#errors';
import { readSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { Database } from './database.js';
import { RunRepository } from './run.repository.js';
import { databaseSettings } from './settings.js';
import { budgetMs, leaseMs, openRunFixture } from './testing/run-fixture.js';
import { succeeded, testModel } from './testing/runs.js';

const fixture = await openRunFixture();

const times = async (runId: string) => {
  const [row] = await fixture.first.sql<{
    sent: Date | null;
    dispatched: Date;
    deadline: Date;
    lease: Date | null;
  }>(
    `SELECT sent_at AS sent, dispatched_at AS dispatched, deadline_at AS deadline, lease_until AS lease FROM run WHERE id = $1`,
    [runId],
  );
  if (!row) throw new Error('There is no such run');
  return row;
};

/** Hears no answer to the write that announces a submission. */
class Deaf extends Database {
  override async write<Row extends object>(...[text, values]: Parameters<Database['write']>): Promise<Row[]> {
    const rows = await super.write<Row>(text, values);
    if (text.includes('begin_submission('))
      throw new RouterError('service_unavailable', 'The answer was lost.');
    return rows;
  }
}

const claim = (runId: string, worker = fixture.first) => worker.runs.claim(runId, leaseMs);

describe('the beginning of a submission', () => {
  it('is written down once, with the end of the run’s time', async () => {
    const spaceId = await fixture.space();
    const { runId, epoch } = await fixture.run('claimed', { spaceId });
    const begins = await Promise.all(
      [fixture.first, fixture.second, fixture.first, fixture.second].map(({ runs }) =>
        runs.beginSubmission(runId, epoch, leaseMs),
      ),
    );
    expect(begins.filter((won) => won)).toHaveLength(1);
    const { sent, dispatched, deadline } = await times(runId);
    expect(sent).not.toBeNull();
    expect(deadline.getTime() - dispatched.getTime()).toBeLessThan(budgetMs + leaseMs);
    expect(deadline.getTime() - dispatched.getTime()).toBeGreaterThanOrEqual(budgetMs);
    expect(await fixture.second.runReader.state(spaceId, testModel, runId)).toMatchObject({
      stage: 'submitting',
      position: null,
    });
  });

  it('lets the run rest until its lease ends', async () => {
    const { runId } = await fixture.run('submitting');
    expect(await fixture.overdueAt('50 minutes')).not.toContain(runId);
    expect(await fixture.overdueAt('61 minutes')).toContain(runId);
  });

  it('is refused to a worker that slept past its lease', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await claim(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'claimed', epoch: epoch + 1 });
    const before = await fixture.written(runId);
    expect(await fixture.first.runs.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('is refused once the run has its outcome', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect((await fixture.second.finish(runId, epoch, { outcome: 'cancelled' })).won).toBe(true);
    const before = await fixture.written(runId);
    expect(await fixture.first.runs.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('keeps the first time and the first end when the provider refused the one before', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const first = await times(runId);
    await fixture.first.runs.postpone(runId, epoch, 0);
    const later = fixture.at('1 minute');
    expect(await claim(runId, later)).toMatchObject({ kind: 'claimed', epoch: epoch + 1 });
    expect(await later.runs.beginSubmission(runId, epoch + 1, leaseMs)).toBe(true);
    const second = await times(runId);
    expect([second.dispatched, second.deadline]).toEqual([first.dispatched, first.deadline]);
    expect(second.sent?.getTime()).toBeGreaterThan(first.sent?.getTime() ?? Infinity);
  });

  it('that is not answered gives the claim back: nothing was sent, so it is no submission in the air', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    const deaf = Deaf.create(readSettings(databaseSettings, { DATABASE_URL: fixture.database.url }));
    const begun = new RunRepository(deaf).beginSubmission(runId, epoch, leaseMs);
    await expect(begun).rejects.toThrow('The answer was lost.');
    await deaf.close();
    expect(await times(runId)).toMatchObject({ sent: null, lease: null });
    expect(await claim(runId, fixture.second)).toMatchObject({ kind: 'claimed', crashes: 0 });
  });
});

describe('a claim that is given back', () => {
  it('is dispatched again after the pause, and its row rests a little longer', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const postponed = async () => expect(await fixture.first.runs.postpone(runId, epoch, 5000)).toBe(5000);
    expect(await fixture.restAfter(postponed, runId, 7000)).toBe(7000);
  });

  it('comes back when the time of the run is over, if that is earlier', async () => {
    const { runId, epoch } = await fixture.run('submitting', { budgetMs: leaseMs });
    const afterMs = await fixture.first.runs.postpone(runId, epoch, 2 * leaseMs);
    expect(afterMs).toBeLessThanOrEqual(leaseMs);
    expect(afterMs).toBeGreaterThan(0);
    const again = await claim(runId);
    if (again.kind !== 'claimed') throw new Error('The run was not claimed');
    expect(await fixture.at('2 hours').runs.postpone(runId, again.epoch, leaseMs)).toBe(0);
  });

  it('stays with the worker that has it when another gives it back', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    await claim(runId, fixture.at('61 minutes'));
    const before = await fixture.written(runId);
    expect(await fixture.first.runs.postpone(runId, epoch, 0)).toBeNull();
    expect(await fixture.written(runId)).toEqual(before);
  });

  it.each(['running', 'copying', 'completed'] as const)('is none in a run that is %s', async (stage) => {
    const { runId, epoch } = await fixture.run(stage);
    const before = await fixture.written(runId);
    expect(await fixture.first.runs.postpone(runId, epoch, 0)).toBeNull();
    expect(await fixture.written(runId)).toEqual(before);
  });
});

describe('a lease that is renewed', () => {
  it('stands longer, and the row of its run rests longer, for each of many claims', async () => {
    const spaceId = await fixture.space();
    const claims = [await fixture.run('claimed', { spaceId }), await fixture.run('submitting', { spaceId })];
    await fixture.at('50 minutes').runs.renewLeases(claims, leaseMs);
    for (const { runId } of claims) {
      expect(await claim(runId, fixture.at('90 minutes'))).toMatchObject({ kind: 'held' });
    }
    const overdue = await fixture.overdueAt('100 minutes');
    for (const { runId } of claims) expect(overdue).not.toContain(runId);
    expect(await claim(claims[0]?.runId ?? '', fixture.at('121 minutes'))).toMatchObject({ kind: 'claimed' });
    expect(await claim(claims[1]?.runId ?? '', fixture.at('121 minutes'))).toMatchObject({
      kind: 'abandoned',
    });
  });

  it('is not one that was lost, given back, or that ended with its submission', async () => {
    const spaceId = await fixture.space();
    const lost = await fixture.run('claimed', { spaceId });
    await claim(lost.runId, fixture.at('61 minutes'));
    const back = await fixture.run('claimed', { spaceId });
    await fixture.first.runs.postpone(back.runId, back.epoch, 0);
    const running = await fixture.run('running', { spaceId });
    const completed = await fixture.run('claimed', { spaceId });
    await fixture.second.finish(completed.runId, completed.epoch, succeeded);

    const runs = [lost, back, running, completed];
    const before = await Promise.all(runs.map(({ runId }) => fixture.written(runId)));
    await fixture.at('62 minutes').runs.renewLeases(runs, leaseMs);
    expect(await Promise.all(runs.map(({ runId }) => fixture.written(runId)))).toEqual(before);
  });
});
