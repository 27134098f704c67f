import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { budgetMs, leaseMs, openRunFixture } from './testing/run-fixture.js';
import { testHandle, testModel, testProvider } from './testing/runs.js';

const fixture = await openRunFixture();

const read = (runId: string, worker = fixture.first) => worker.runs.readForPoll(runId);

describe('a poll', () => {
  it('finds on any worker what the last one knew: no state is held between two polls', async () => {
    const { runId, epoch } = await fixture.run('running');
    const poll = await read(runId, fixture.second);
    expect(poll).toMatchObject({
      stage: 'running',
      epoch,
      provider: testProvider,
      model: testModel,
      facts: { budgetMs },
      handle: testHandle,
      overdue: false,
      cancelDue: false,
      cancelRequested: false,
      lostPolls: 0,
      slowReadings: 0,
      pausedMs: null,
      dueSoon: false,
    });
    expect(poll?.leftMs).toBeLessThanOrEqual(budgetMs);
    expect(poll?.leftMs).toBeGreaterThan(budgetMs - leaseMs);
  });

  it('finds that the deadline has passed, by the database’s clock', async () => {
    const { runId } = await fixture.run('running');
    expect(await read(runId, fixture.at('9 hours'))).toMatchObject({ overdue: false });
    const late = await read(runId, fixture.at('11 hours'));
    expect(late?.overdue).toBe(true);
    expect(late?.leftMs).toBeLessThan(0);
    // More milliseconds than an integer can hold.
    expect(await read(runId, fixture.at('2 months'))).toMatchObject({ overdue: true, leftMs: -1 });
  });

  it('finds neither an unknown run nor anything to poll in a run past that stage', async () => {
    expect(await read(v7())).toBeNull();
    expect(await read((await fixture.run('copying')).runId)).toMatchObject({ stage: 'copying' });
    expect(await read((await fixture.run('completed')).runId)).toMatchObject({ stage: 'completed' });
  });

  it('postpones the row of its run if that is due soon, so that the reconciler does not cut a pause short', async () => {
    const { runId, spaceId: workspaceId } = await fixture.run('running');
    const later = fixture.at('1 hour');
    expect(await read(runId, later)).toMatchObject({ dueSoon: true });
    await later.runs.moveDue({ runId, workspaceId }, leaseMs);
    expect(await read(runId, later)).toMatchObject({ dueSoon: false });
    expect(await fixture.overdueAt('110 minutes')).not.toContain(runId);
    expect(await fixture.overdueAt('121 minutes')).toContain(runId);
    const moved = () => fixture.first.runs.moveDue({ runId, workspaceId }, 60_000);
    expect(await fixture.restAfter(moved, runId, 90_000)).toBe(90_000);
  });

  it('does not wait for the locked row of another run that is postponed at the same moment', async () => {
    const [locked, free] = [await fixture.run('running'), await fixture.run('running')];
    const other = new Client({ connectionString: fixture.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM outbox WHERE run_id = $1 FOR UPDATE', [locked.runId]);
      const moved = [locked, free].map(({ runId, spaceId }) =>
        fixture.first.runs.leaveToReconciler({ runId, workspaceId: spaceId }, 3_600_000),
      );
      await moved[1];
      await other.query('COMMIT');
      await moved[0];
    } finally {
      await other.end();
    }
    const overdue = await fixture.overdueAt('50 minutes');
    expect([locked, free].filter(({ runId }) => overdue.includes(runId))).toEqual([]);
  });

  it('is left to the reconciler if no queue took it, and comes back when it is due', async () => {
    const { runId, spaceId: workspaceId } = await fixture.run('running');
    const left = () => fixture.first.runs.leaveToReconciler({ runId, workspaceId }, 2000);
    expect(await fixture.restAfter(left, runId, 2000)).toBe(2000);
    await fixture.first.runs.leaveToReconciler({ runId, workspaceId }, 0);
    expect(await fixture.overdueAt('0')).toContain(runId);
  });

  it('does not put a completed run back', async () => {
    const { runId, spaceId: workspaceId } = await fixture.run('completed');
    await fixture.first.runs.moveDue({ runId, workspaceId }, 0);
    await fixture.first.runs.leaveToReconciler({ runId, workspaceId }, 0);
    expect((await fixture.written(runId))['outbox']).toBeNull();
  });

  it('passes a cancellation on once, whichever of two workers is first', async () => {
    const spaceId = await fixture.space();
    const { runId, epoch } = await fixture.run('running', { spaceId });
    expect(await fixture.second.runs.requestCancel(spaceId, testModel, runId)).toMatchObject({
      found: 'dispatched',
    });
    expect(await read(runId)).toMatchObject({ cancelDue: true, cancelRequested: true });
    const noted = await Promise.all(
      [fixture.first, fixture.second, fixture.first, fixture.second].map(({ runs }) =>
        runs.noteCancelSent(runId, epoch),
      ),
    );
    expect(noted.filter((won) => won)).toHaveLength(1);
    expect(await read(runId)).toMatchObject({ cancelDue: false, cancelRequested: true });
    expect(await fixture.second.runs.requestCancel(spaceId, testModel, runId)).toMatchObject({
      found: 'dispatched',
    });
    expect(await read(runId)).toMatchObject({ cancelDue: false, cancelRequested: true });
  });

  it('records a sent cancellation only for a run that is being polled, and only under its claim', async () => {
    for (const { runId, epoch } of [
      await fixture.run('submitting'),
      await fixture.run('copying'),
      await fixture.run('completed'),
    ]) {
      expect(await fixture.first.runs.noteCancelSent(runId, epoch)).toBe(false);
    }
    const { runId, epoch } = await fixture.run('running');
    expect(await fixture.first.runs.noteCancelSent(runId, epoch + 1)).toBe(false);
    expect((await fixture.written(runId))['run']).toMatchObject({ cancel_sent_at: null });
  });

  it('counts how often in a row the provider did not know the handle', async () => {
    const { runId, epoch } = await fixture.run('running');
    await fixture.first.runs.notePoll(runId, epoch, 2);
    expect(await read(runId, fixture.second)).toMatchObject({ lostPolls: 2 });
    await fixture.second.runs.notePoll(runId, epoch + 1, 3);
    expect(await read(runId)).toMatchObject({ lostPolls: 2 });
    await fixture.second.runs.notePoll(runId, epoch, 0);
    expect(await read(runId)).toMatchObject({ lostPolls: 0 });
  });

  it('continues from the handle after any number of dead workers', async () => {
    const { runId, epoch } = await fixture.run('running');
    for (const offset of ['1 hour', '2 hours', '3 hours', '4 hours', '5 hours']) {
      const next = fixture.at(offset);
      const overdue = await next.outbox.takeOverdue(1000);
      expect(overdue).toContainEqual({ runId, provider: testProvider, queue: 'poll', waited: false });
      expect(await read(runId, next)).toMatchObject({
        stage: 'running',
        epoch,
        handle: testHandle,
        overdue: false,
      });
      expect(await fixture.claim(runId, next)).toBeNull();
      expect(await fixture.swept(runId, next)).toBeUndefined();
    }
  });
});
