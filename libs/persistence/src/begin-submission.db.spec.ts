import { RouterError } from '#errors';
import { describe, expect, it } from '@jest/globals';
import { Database } from './database.js';
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

/** Loses the results of statements that contain the word. */
function deafTo(word: string, { work }: Database): void {
  const query = work.query.bind(work);
  work.query = async <Row extends object>(text: string, values?: unknown[]) => {
    const rows = await query<Row>(text, values);
    if (text.includes(word)) throw new RouterError('service_unavailable', 'The answer was lost.');
    return rows;
  };
}

describe('the beginning of a submission', () => {
  it('is recorded once, with the deadline of the run', async () => {
    const spaceId = await fixture.space();
    const { runId, epoch } = await fixture.run('claimed', { spaceId });
    const begins = await Promise.all(
      [fixture.first, fixture.second, fixture.first, fixture.second].map(({ dispatch }) =>
        dispatch.beginSubmission(runId, epoch, leaseMs),
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

  it('postpones the row of the run until the lease ends', async () => {
    const { runId } = await fixture.run('submitting');
    expect(await fixture.swept(runId, fixture.at('50 minutes'))).toBeUndefined();
    expect(await fixture.swept(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'abandoned' });
  });

  it('is refused to a worker that was suspended past its lease', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await fixture.swept(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'lapsed' });
    expect(await fixture.claim(runId, fixture.at('61 minutes'))).toMatchObject({ epoch: epoch + 1 });
    const before = await fixture.written(runId);
    expect(await fixture.first.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('is refused for a claim that lapsed or was given back, and the run waits for another worker', async () => {
    const lapsed = await fixture.run('claimed');
    const woken = fixture.at('61 minutes');
    expect(await fixture.swept(lapsed.runId, woken)).toMatchObject({ kind: 'lapsed' });
    const back = await fixture.run('claimed');
    await fixture.first.dispatch.postpone(back.runId, back.epoch, 0);
    for (const { runId, epoch } of [lapsed, back]) {
      const before = await fixture.written(runId);
      expect(await woken.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
      expect(await fixture.written(runId)).toEqual(before);
      expect(await fixture.claim(runId, woken)).toMatchObject({ epoch: epoch + 1 });
    }
  });

  it('is refused once the run has an outcome', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect((await fixture.second.finish(runId, epoch, { outcome: 'cancelled' })).won).toBe(true);
    const before = await fixture.written(runId);
    expect(await fixture.first.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('keeps the first start and deadline after the provider rejected the previous submission', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const first = await times(runId);
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    const later = fixture.at('1 minute');
    expect(await fixture.claim(runId, later)).toMatchObject({ epoch: epoch + 1 });
    expect(await later.dispatch.beginSubmission(runId, epoch + 1, leaseMs)).toBe(true);
    const second = await times(runId);
    expect([second.dispatched, second.deadline]).toEqual([first.dispatched, first.deadline]);
    expect(second.sent?.getTime()).toBeGreaterThan(first.sent?.getTime() ?? Infinity);
  });

  it('gives the claim back when its result is lost, because nothing was sent', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    const deaf = fixture.database.process();
    deafTo('begin_run(', deaf.database);
    const begun = deaf.dispatch.beginSubmission(runId, epoch, leaseMs);
    await expect(begun).rejects.toThrow('The answer was lost.');
    expect(await times(runId)).toMatchObject({ sent: null, lease: null });
    expect(await fixture.claim(runId, fixture.second)).toMatchObject({ crashes: 0 });
  });
});

describe('a claim that is given back', () => {
  it('makes the run wait again after the pause', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const postponed = async () =>
      expect(await fixture.first.dispatch.postpone(runId, epoch, 5000)).toBe(5000);
    expect(await fixture.restAfter(postponed, runId, 5000)).toBe(5000);
    expect(await fixture.claim(runId)).toBeNull();
    expect((await fixture.written(runId))['outbox']).toMatchObject({ waiting: false, dispatched: true });
  });

  it('makes the run wait again at once without a pause', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    expect(await fixture.first.dispatch.postpone(runId, epoch, 0)).toBe(0);
    expect((await fixture.written(runId))['outbox']).toMatchObject({ waiting: true, dispatched: true });
    expect(await fixture.claim(runId, fixture.second)).toMatchObject({ epoch: epoch + 1 });
  });

  it('puts a run that was never sent ahead of later runs of its workspace again', async () => {
    const { runId, epoch, spaceId } = await fixture.run('claimed');
    const after = await fixture.first.run(spaceId);
    const state = () => fixture.first.runReader.state(spaceId, testModel, after);
    expect(await state()).toMatchObject({ position: 0 });
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    expect(await state()).toMatchObject({ position: 1 });
    const again = await fixture.claim(runId);
    await fixture.first.dispatch.postpone(runId, again?.epoch ?? 0, 60_000);
    expect(await state()).toMatchObject({ position: 1 });
  });

  it('makes the run come back at its deadline, if that is earlier', async () => {
    const { runId, epoch } = await fixture.run('submitting', { budgetMs: leaseMs });
    const afterMs = await fixture.first.dispatch.postpone(runId, epoch, 2 * leaseMs);
    expect(afterMs).toBeLessThanOrEqual(leaseMs);
    expect(afterMs).toBeGreaterThan(0);
    const later = fixture.at('2 hours');
    expect(await fixture.swept(runId, later)).toBeUndefined();
    const again = await fixture.claim(runId, later);
    expect(await later.dispatch.postpone(runId, again?.epoch ?? 0, leaseMs)).toBe(0);
  });

  it('stays with its worker when another one gives it back', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    await fixture.swept(runId, fixture.at('61 minutes'));
    expect(await fixture.claim(runId, fixture.at('61 minutes'))).not.toBeNull();
    const before = await fixture.written(runId);
    expect(await fixture.first.dispatch.postpone(runId, epoch, 0)).toBeNull();
    expect(await fixture.written(runId)).toEqual(before);
  });

  it.each(['running', 'copying', 'completed'] as const)(
    'changes nothing in a run that is %s',
    async (stage) => {
      const { runId, epoch } = await fixture.run(stage);
      const before = await fixture.written(runId);
      expect(await fixture.first.dispatch.postpone(runId, epoch, 0)).toBeNull();
      expect(await fixture.written(runId)).toEqual(before);
    },
  );
});

describe('a lease that is renewed', () => {
  it('lasts longer, and so does the postponement of the row, for each of many claims', async () => {
    const spaceId = await fixture.space();
    const claims = [await fixture.run('claimed', { spaceId }), await fixture.run('submitting', { spaceId })];
    await fixture.at('50 minutes').dispatch.renewLeases(claims, leaseMs);
    for (const offset of ['90 minutes', '100 minutes']) {
      for (const { runId } of claims) {
        expect(await fixture.swept(runId, fixture.at(offset))).toBeUndefined();
        expect(await fixture.claim(runId, fixture.at(offset))).toBeNull();
      }
    }
    const swept = await fixture.at('121 minutes').dispatch.sweep(10_000, leaseMs);
    expect(claims.map(({ runId }) => swept.find((each) => each.runId === runId)?.kind)).toEqual([
      'lapsed',
      'abandoned',
    ]);
  });

  it('is not one that was lost or given back, or that ended with its submission', async () => {
    const spaceId = await fixture.space();
    const lost = await fixture.run('claimed', { spaceId });
    await fixture.swept(lost.runId, fixture.at('61 minutes'));
    expect(await fixture.claim(lost.runId, fixture.at('61 minutes'))).not.toBeNull();
    const lapsed = await fixture.run('claimed', { spaceId });
    await fixture.swept(lapsed.runId, fixture.at('61 minutes'));
    const back = await fixture.run('claimed', { spaceId });
    await fixture.first.dispatch.postpone(back.runId, back.epoch, 0);
    const running = await fixture.run('running', { spaceId });
    const completed = await fixture.run('claimed', { spaceId });
    await fixture.second.finish(completed.runId, completed.epoch, succeeded);

    const runs = [lost, lapsed, back, running, completed];
    const before = await Promise.all(runs.map(({ runId }) => fixture.written(runId)));
    await fixture.at('62 minutes').dispatch.renewLeases(runs, leaseMs);
    expect(await Promise.all(runs.map(({ runId }) => fixture.written(runId)))).toEqual(before);
  });
});
