import { afterEach, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { openLife } from '../testing/life.js';
import { failed, succeeded } from '../testing/runs.js';

const doubtSeconds = 3600;

const life = await openLife();
// The book is one for all cases.
afterEach(() => life.first.sql('DELETE FROM stored_object'));

const note = (key: string, runId: string, by = life.first) => by.objects.note(key, runId, doubtSeconds);
const due = async (offset = '0') => (await life.at(offset).objects.takeDue(100)).toSorted();
const noted = async () =>
  (await life.first.sql<{ key: string }>('SELECT key FROM stored_object ORDER BY key')).map(({ key }) => key);

describe('an object that is noted before it is put', () => {
  it('is deleted when no run came to need it in the time that a put may take', async () => {
    const key = 'left-behind';
    expect(await note(key, v7())).toBe(true);
    expect(await due()).toEqual([]);
    expect(await life.first.objects.unneeded()).toEqual({ inDoubt: 1, leftBehind: 0 });
    expect(await life.at('2 hours').objects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });
    expect(await due('2 hours')).toEqual([key]);
  });

  it('has as much time again when it is noted again, and loses none by a shorter note', async () => {
    const key = 'again';
    const runId = v7();
    await note(key, runId);
    expect(await life.at('30 minutes').objects.note(key, runId, doubtSeconds)).toBe(true);
    expect(await life.first.objects.note(key, runId, 1)).toBe(true);
    expect(await due('70 minutes')).toEqual([]);
    expect(await due('2 hours')).toEqual([key]);
  });

  it('goes with the next round when nobody wants it, as the input of a refused call', async () => {
    const key = 'refused';
    await note(key, v7());
    await life.second.objects.discard(key);
    expect(await due()).toEqual([key]);
  });

  it('stays unneeded when its call was refused, or when it repeats one whose input is there', async () => {
    const spaceId = await life.space();
    for (const key of ['first', 'second', 'third']) await note(key, v7());
    const asked = { key: 'large', body: { storedAs: 'first' } };
    expect(await life.first.admit(spaceId, asked)).toMatchObject({ kind: 'admitted' });
    const repeated = await life.second.admit(spaceId, { ...asked, body: { storedAs: 'second' } });
    expect(repeated).toMatchObject({ kind: 'existing' });
    const poor = await life.space({ balanceMicros: 0 });
    const refused = await life.first.admit(poor, { body: { storedAs: 'third' } });
    expect(refused).toMatchObject({ kind: 'refused', limit: 'credits' });
    expect(await due('2 hours')).toEqual(['second', 'third']);
  });

  it('is kept while its run lives, however long ago it was noted: its worker died, and the next one comes late', async () => {
    const { runId, epoch } = await life.run('copying');
    await note('copy', runId);
    await note('nobodys', v7());
    expect(await due('30 days')).toEqual(['nobodys']);
    // The one that is being deleted counts, the one of the live run is in doubt.
    expect(await life.at('30 days').objects.unneeded()).toEqual({ inDoubt: 1, leftBehind: 1 });
    await life.first.dispatching.finish(runId, epoch, failed('provider_error'));
    expect(await due('31 days')).toEqual(['copy', 'nobodys']);
  });
});

describe('an object that a run needs', () => {
  it('is kept for good: an input from admission on, a result and its copies from the outcome on', async () => {
    const spaceId = await life.space();
    const input = 'input';
    await note(input, v7());
    const { runId, epoch } = await life.run('copying', { spaceId, body: { storedAs: input } });
    for (const key of ['output', 'copy-1', 'copy-2', 'copy-left']) await note(key, runId);
    const openUntilMs = Date.now() + 2 * 86_400_000;
    const { won } = await life.first.dispatching.finish(runId, epoch, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs: 'output' },
      copies: { keys: ['copy-1', 'copy-2'], openUntilMs },
    });
    expect(won).toBe(true);
    for (const key of ['input', 'output', 'copy-1']) await life.first.objects.discard(key);
    expect(await due('300 days')).toEqual(['copy-left']);
    expect(await life.at('300 days').objects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });
    const [opens] = await life.first.sql<{ until: Date }>(
      `SELECT link_expires_at AS until FROM stored_object WHERE key = 'copy-1'`,
    );
    expect(opens?.until.getTime()).toBe(openUntilMs);
  });

  it('must be there: what would point to it is not written otherwise', async () => {
    const spaceId = await life.space();
    await expect(life.first.run(spaceId, { body: { storedAs: 'never-noted' } })).rejects.toThrow(
      'stored objects',
    );
    expect(await life.counters(spaceId)).toMatchObject({ inflight: 0, held: 0 });

    const { runId, epoch } = await life.run('copying', { spaceId });
    await note('there', runId);
    const before = await life.written(runId);
    for (const ending of [
      { ...succeeded, body: { storedAs: 'never-noted' } },
      { ...succeeded, copies: { keys: ['there', 'never-noted'], openUntilMs: Date.now() } },
    ]) {
      await expect(life.first.dispatching.finish(runId, epoch, ending)).rejects.toThrow('stored objects');
      expect(await life.written(runId)).toEqual(before);
    }
    expect((await life.first.dispatching.finish(runId, epoch, succeeded)).won).toBe(true);
  });
});

describe('an object that is being deleted', () => {
  it('is not put, needed or pointed to any more, until it is forgotten', async () => {
    const { runId, epoch } = await life.run('copying');
    const key = 'deleting';
    await note(key, v7());
    expect(await due('2 hours')).toEqual([key]);
    expect(await note(key, runId)).toBe(false);
    const pointing = { ...succeeded, body: { storedAs: key } };
    await expect(life.first.dispatching.finish(runId, epoch, pointing)).rejects.toThrow('stored objects');
    expect(await life.first.objects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });

    await life.second.objects.forget([key]);
    expect(await noted()).toEqual([]);
    expect(await note(key, runId)).toBe(true);
    expect((await life.first.dispatching.finish(runId, epoch, pointing)).won).toBe(true);
  });

  it('is taken again when the worker died that deleted it', async () => {
    const key = 'taken-again';
    await note(key, v7());
    expect(await due('2 hours')).toEqual([key]);
    expect(await due('2 hours')).toEqual([]);
    expect(await due('3 hours')).toEqual([key]);
  });

  it('alone is forgotten: one that a run needs stays in the book', async () => {
    await note('kept', v7());
    await life.first.objects.forget(['kept']);
    expect(await noted()).toEqual(['kept']);
  });

  it('is taken by one of the workers that look for such objects at once', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    await Promise.all(keys.map((key) => note(key, v7())));
    const taken = await Promise.all(Array.from({ length: 8 }, () => life.at('2 hours').objects.takeDue(10)));
    const all = taken.flat();
    expect(new Set(all).size).toBe(all.length);
    expect(new Set([...all, ...(await due('2 hours'))])).toEqual(new Set(keys));
  });
});
