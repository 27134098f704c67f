import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { FileRepository } from './file.repository.js';
import { openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const [first, second] = [fixture.first, fixture.second].map(({ database }) => new FileRepository(database));
if (!first || !second) throw new Error('two processes share the database');

const reserve = async (workspaceId: string, { by = first, bytes = 10 } = {}) => {
  const id = v7();
  const file = { id, key: `files/${id}.png`, workspaceId, maxBytes: bytes, doubtSeconds: 3600 };
  return { ...file, refusal: await by.reserve(file) };
};
const png = { contentType: 'image/png', bytes: 7, seconds: 86_400 };
const due = (offset = '0') => fixture.at(offset).storedObjects.takeDue(100);

it('counts files in upload at their maximum size, and stored files at their actual size', async () => {
  const spaceId = await fixture.space({ fileBytesLimit: 20 });
  const { key } = await reserve(spaceId);
  expect((await reserve(spaceId, { bytes: 11 })).refusal).toEqual({ limit: 'bytes', maxAllowed: 20 });
  await first.complete(key, png);
  expect((await reserve(spaceId, { bytes: 13 })).refusal).toBeNull();
});

it('enforces the number of files across processes', async () => {
  const spaceId = await fixture.space({ fileLimit: 3 });
  const reserving = Array.from({ length: 10 }, (_, nth) =>
    reserve(spaceId, { by: nth % 2 ? first : second }),
  );
  const refusals = (await Promise.all(reserving)).filter(({ refusal }) => refusal !== null);
  expect(refusals.map(({ refusal }) => refusal)).toEqual(
    Array.from({ length: 7 }, () => ({ limit: 'files', maxAllowed: 3 })),
  );
});

it('is found by its workspace from its upload until it expires; then its row and object are due for deletion', async () => {
  const [spaceId, otherId] = [await fixture.space(), await fixture.space()];
  const { id, key } = await reserve(spaceId);
  expect(await second.find(spaceId, id)).toBeNull();
  const stored = await first.complete(key, png);
  expect(await second.find(spaceId, id)).toEqual(stored);
  expect(await second.find(otherId, id)).toBeNull();
  const late = new FileRepository(fixture.at('25 hours').database);
  expect([await late.find(spaceId, id), await late.delete(spaceId, id)]).toEqual([null, false]);
  expect(await due('23 hours')).not.toContain(key);
  expect(await due('25 hours')).toContain(key);
});

it('has one upload per key at a time, and a new one after that was abandoned', async () => {
  const spaceId = await fixture.space();
  const { refusal: _, ...place } = await reserve(spaceId);
  const taken = { limit: 'place', maxAllowed: 1 };
  expect(await second.reserve(place)).toEqual(taken);
  await fixture.first.storedObjects.discard(place.key);
  const again = await Promise.all([first.reserve(place), second.reserve(place)]);
  expect(again.filter((refusal) => refusal === null)).toHaveLength(1);
  expect(await due()).not.toContain(place.key);
  await second.complete(place.key, png);
  expect(await first.reserve(place)).toEqual(taken);
});

it('cannot be uploaded again while its key is being swept', async () => {
  const { refusal: _, ...place } = await reserve(await fixture.space());
  expect(await due('2 hours')).toContain(place.key);
  expect(await first.reserve(place)).toMatchObject({ limit: 'place' });
});

it('stays gone after its deletion, even if the store fails to delete it', async () => {
  const spaceId = await fixture.space();
  const { id, key } = await reserve(spaceId);
  await first.complete(key, png);
  await first.delete(spaceId, id);
  expect(await due()).toContain(key);
  expect([await second.find(spaceId, id), await second.list(spaceId, { limit: 10 })]).toEqual([null, []]);
  expect(await second.delete(spaceId, id)).toBe(false);
  expect(await fixture.second.workspaces.state(spaceId)).toMatchObject({ files: 0, fileBytes: 0 });
});

it('is swept if its upload never finished, and cannot be completed after that', async () => {
  const { key } = await reserve(await fixture.space());
  expect(await due('2 hours')).toContain(key);
  expect(await first.complete(key, png)).toBeNull();
});

it('and the objects of a run belong only to their workspace', async () => {
  const otherId = await fixture.space();
  const { runId, spaceId } = await fixture.run('running');
  const { key: file } = await reserve(spaceId);
  await first.complete(file, png);
  const asset = `runs/${runId}/assets/0.png`;
  await fixture.first.storedObjects.note(asset, runId, 600);
  const isOf = (id: string, key: string) => fixture.second.storedObjects.isOf(id, key);
  expect([await isOf(spaceId, file), await isOf(spaceId, asset)]).toEqual([true, true]);
  expect([await isOf(otherId, file), await isOf(otherId, asset)]).toEqual([false, false]);
  expect(await isOf(spaceId, 'files/none.png')).toBe(false);
});
