import { afterEach, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { FileRepository } from '../file.repository.js';
import { openRunFixture } from '../testing/run-fixture.js';
import { failed, succeeded } from '../testing/runs.js';

const doubtSeconds = 3600;

const fixture = await openRunFixture();
// All cases share one table of objects.
afterEach(() => fixture.first.sql('DELETE FROM stored_object'));

const note = (key: string, runId: string, by = fixture.first) =>
  by.storedObjects.note(key, runId, doubtSeconds);
const due = async (offset = '0') => (await fixture.at(offset).storedObjects.takeDue(100)).toSorted();
const noted = async () =>
  (await fixture.first.sql<{ key: string }>('SELECT key FROM stored_object ORDER BY key')).map(
    ({ key }) => key,
  );

describe('an object that is recorded before it is written', () => {
  it('is deleted if no run needs it within the time that a write may take', async () => {
    const key = 'left-behind';
    expect(await note(key, v7())).toBe(true);
    expect(await due()).toEqual([]);
    expect(await fixture.first.storedObjects.unneeded()).toEqual({ inDoubt: 1, leftBehind: 0 });
    expect(await fixture.at('2 hours').storedObjects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });
    expect(await due('2 hours')).toEqual([key]);
  });

  it('gets the full time again when it is recorded again, and never less', async () => {
    const key = 'again';
    const runId = v7();
    await note(key, runId);
    expect(await fixture.at('30 minutes').storedObjects.note(key, runId, doubtSeconds)).toBe(true);
    expect(await fixture.first.storedObjects.note(key, runId, 1)).toBe(true);
    expect(await due('70 minutes')).toEqual([]);
    expect(await due('2 hours')).toEqual([key]);
  });

  it('is deleted by the next sweep if it is discarded, like the input of a rejected call', async () => {
    const key = 'refused';
    await note(key, v7());
    await fixture.second.storedObjects.discard(key);
    expect(await due()).toEqual([key]);
  });

  it('stays unneeded if its call was rejected, or repeated a call whose input is already stored', async () => {
    const spaceId = await fixture.space();
    for (const key of ['first', 'second', 'third']) await note(key, v7());
    const asked = { key: 'large', body: { storedAs: 'first' } };
    expect(await fixture.first.admit(spaceId, asked)).toMatchObject({ kind: 'admitted' });
    const repeated = await fixture.second.admit(spaceId, { ...asked, body: { storedAs: 'second' } });
    expect(repeated).toMatchObject({ kind: 'existing' });
    const poor = await fixture.space({ balanceMicros: 0 });
    const refused = await fixture.first.admit(poor, { body: { storedAs: 'third' } });
    expect(refused).toMatchObject({ kind: 'refused', limit: 'credits' });
    expect(await due('2 hours')).toEqual(['second', 'third']);
  });

  it('is kept while its run is live, however old it is: its worker may have died, and the next one may be late', async () => {
    const { runId, epoch } = await fixture.run('copying');
    await note('copy', runId);
    await note('nobodys', v7());
    expect(await due('30 days')).toEqual(['nobodys']);
    // The object that is being deleted counts as left behind; that of the live run is in doubt.
    expect(await fixture.at('30 days').storedObjects.unneeded()).toEqual({ inDoubt: 1, leftBehind: 1 });
    await fixture.first.finish(runId, epoch, failed('provider_error'));
    expect(await due('31 days')).toEqual(['copy', 'nobodys']);
  });
});

describe('an object that a run needs', () => {
  it('is kept permanently: an input from admission on, a result and its copies from the outcome on', async () => {
    const spaceId = await fixture.space();
    const input = 'input';
    await note(input, v7());
    const { runId, epoch } = await fixture.run('copying', { spaceId, body: { storedAs: input } });
    for (const key of ['output', 'copy-1', 'copy-2', 'copy-left']) await note(key, runId);
    const openUntilMs = Date.now() + 2 * 86_400_000;
    const { won } = await fixture.first.finish(runId, epoch, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs: 'output' },
      copies: { keys: ['copy-1', 'copy-2'], openUntilMs },
    });
    expect(won).toBe(true);
    for (const key of ['input', 'output', 'copy-1']) await fixture.first.storedObjects.discard(key);
    expect(await due('300 days')).toEqual(['copy-left']);
    expect(await fixture.at('300 days').storedObjects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });
    const [opens] = await fixture.first.sql<{ until: Date }>(
      `SELECT link_expires_at AS until FROM stored_object WHERE key = 'copy-1'`,
    );
    expect(opens?.until.getTime()).toBe(openUntilMs);
  });

  it('must exist, or the row that references it is not written', async () => {
    const spaceId = await fixture.space();
    await expect(fixture.first.run(spaceId, { body: { storedAs: 'never-noted' } })).rejects.toThrow(
      'stored objects',
    );
    expect(await fixture.counters(spaceId)).toMatchObject({ inflight: 0, held: 0 });

    const { runId, epoch } = await fixture.run('copying', { spaceId });
    await note('there', runId);
    const before = await fixture.written(runId);
    for (const ending of [
      { ...succeeded, body: { storedAs: 'never-noted' } },
      { ...succeeded, copies: { keys: ['there', 'never-noted'], openUntilMs: Date.now() } },
    ]) {
      await expect(fixture.first.finish(runId, epoch, ending)).rejects.toThrow('stored objects');
      expect(await fixture.written(runId)).toEqual(before);
    }
    expect((await fixture.first.finish(runId, epoch, succeeded)).won).toBe(true);
  });
});

describe('an object that is being deleted', () => {
  it('cannot be written, needed or referenced until its row is deleted', async () => {
    const { runId, epoch } = await fixture.run('copying');
    const key = 'deleting';
    await note(key, v7());
    expect(await due('2 hours')).toEqual([key]);
    expect(await note(key, runId)).toBe(false);
    const pointing = { ...succeeded, body: { storedAs: key } };
    await expect(fixture.first.finish(runId, epoch, pointing)).rejects.toThrow('stored objects');
    expect(await fixture.first.storedObjects.unneeded()).toEqual({ inDoubt: 0, leftBehind: 1 });

    await fixture.second.storedObjects.forget([key]);
    expect(await noted()).toEqual([]);
    expect(await note(key, runId)).toBe(true);
    expect((await fixture.first.finish(runId, epoch, pointing)).won).toBe(true);
  });

  it('is taken again after the deleting worker died', async () => {
    const key = 'taken-again';
    await note(key, v7());
    expect(await due('2 hours')).toEqual([key]);
    expect(await due('2 hours')).toEqual([]);
    expect(await due('3 hours')).toEqual([key]);
  });

  it('loses its row, while an object that a run needs keeps it', async () => {
    await note('kept', v7());
    await fixture.first.storedObjects.forget(['kept']);
    expect(await noted()).toEqual(['kept']);
  });

  it('is taken by only one of several concurrent workers', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    await Promise.all(keys.map((key) => note(key, v7())));
    const taken = await Promise.all(
      Array.from({ length: 8 }, () => fixture.at('2 hours').storedObjects.takeDue(10)),
    );
    const all = taken.flat();
    expect(new Set(all).size).toBe(all.length);
    expect(new Set([...all, ...(await due('2 hours'))])).toEqual(new Set(keys));
  });
});

describe('an object without a row', () => {
  const { storedObjects } = fixture.first;
  const condemn = (key: string, ownerId: string) => storedObjects.condemn([{ key, ownerId }]);

  it('is found among others, and gets a row, so that the next sweep deletes it', async () => {
    await note('known', v7());
    const keys = ['known', 'lost', 'other'];
    expect([...(await storedObjects.unknown(keys))].toSorted()).toEqual(['lost', 'other']);
    expect(await condemn('lost', v7())).toBe(1);
    expect(await due()).toEqual(['lost']);
    await storedObjects.forget(['lost']);
    expect(await noted()).toEqual(['known']);
  });

  it('is left unchanged if it has a row by then', async () => {
    const { runId } = await fixture.run('running');
    await note('known', runId);
    expect(await condemn('known', runId)).toBe(0);
    await fixture.first.sql(`UPDATE stored_object SET delete_at = 'infinity'`);
    expect(await condemn('known', v7())).toBe(0);
    expect(await due('2 hours')).toEqual([]);
  });

  it('stays until its live run ends, because the run may write it again and then keep it', async () => {
    const [failing, again] = [await fixture.run('running'), await fixture.run('running')];
    const [one, other] = [`runs/${failing.runId}/output`, `runs/${again.runId}/output`];
    await condemn(one, failing.runId);
    await condemn(other, again.runId);
    expect(await due('2 hours')).toEqual([]);
    expect(await note(other, again.runId)).toBe(true);
    await fixture.first.finish(again.runId, again.epoch, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs: other },
    });
    await fixture.first.finish(failing.runId, failing.epoch, failed('provider_error'));
    expect(await due('2 hours')).toEqual([one]);
  });

  it('blocks the key of a file until it is deleted', async () => {
    const [id, workspaceId] = [v7(), await fixture.space()];
    const key = `files/${id}.png`;
    await condemn(key, id);
    const files = new FileRepository(fixture.first.database);
    const reserve = () => files.reserve({ id, key, workspaceId, maxBytes: 1, doubtSeconds });
    expect(await reserve()).toMatchObject({ limit: 'place' });
    expect(await due()).toEqual([key]);
    await storedObjects.forget([key]);
    expect(await reserve()).toBeNull();
  });
});
