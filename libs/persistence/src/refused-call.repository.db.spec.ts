import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { maxRefusedCalls, type NotedRefusal, RefusedCallRepository } from './refused-call.repository.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const [one, other] = [file.process(), file.process()];
const calls = new RefusedCallRepository(one.database);
const ofOther = new RefusedCallRepository(other.database);

const noted = (workspaceId: string, more: Partial<NotedRefusal> = {}): NotedRefusal => ({
  callId: v7(),
  workspaceId,
  agoMs: 0,
  route: 'POST /v2/models/{provider}/{model}/requests',
  status: 422,
  bucket: 'invalid_input',
  model: 'bfl/flux-2-pro',
  detail: 'The model does not accept this input.',
  fields: [{ name: 'body.prompt', type: 'missing' }],
  ...more,
});
const many = (workspaceId: string, count: number) => Array.from({ length: count }, () => noted(workspaceId));
const idsOf = async (workspaceId: string) =>
  (await calls.page(workspaceId, undefined, { limit: 10_000 })).map(({ callId }) => callId);

it('keeps a call as it was noted, for its workspace and for operators', async () => {
  const { id, name } = await one.workspace();
  const stranger = await one.workspace();
  const call = noted(id, { agoMs: 60_000 });
  const bare = noted(id, { status: 402, bucket: 'insufficient_credits', model: undefined, fields: [] });
  await calls.note([call, bare]);
  // The answer of a statement may be lost.
  await calls.note([call]);
  const { agoMs: _ago, ...facts } = call;
  const kept = { ...facts, workspace: name, at: expect.any(Date) };
  expect(await calls.find(call.callId)).toEqual(kept);
  expect(await calls.page(id, call.callId, { limit: 5 })).toEqual([kept]);
  expect(await calls.page(stranger.id, call.callId, { limit: 5 })).toEqual([]);
  expect((await calls.find(bare.callId))?.model).toBeNull();
  expect(await calls.find(v7())).toBeNull();
  expect(Date.now() - Number((await calls.find(call.callId))?.at)).toBeGreaterThan(55_000);
});

it('lists the newest first, page by page', async () => {
  const { id } = await one.workspace();
  const made = many(id, 5);
  await calls.note(made);
  const newest = made.map(({ callId }) => callId).toReversed();
  const first = await calls.page(id, undefined, { limit: 2 });
  expect(first.map(({ callId }) => callId)).toEqual(newest.slice(0, 2));
  const rest = await calls.page(id, undefined, { after: newest[1], limit: 9 });
  expect(rest.map(({ callId }) => callId)).toEqual(newest.slice(2));
});

it('keeps the newest 1,000 of each workspace, whichever gateways write them', async () => {
  const [busy, quiet] = [await one.workspace(), await one.workspace()];
  const rare = noted(quiet.id);
  await calls.note([rare, ...many(busy.id, 700)]);
  const [mine, theirs] = [many(busy.id, 600), many(busy.id, 600)];
  await Promise.all([calls.note(mine), ofOther.note(theirs)]);
  const newest = [...mine, ...theirs].map(({ callId }) => callId).toSorted();
  expect(await idsOf(busy.id)).toEqual(newest.toReversed().slice(0, maxRefusedCalls));
  expect(await idsOf(quiet.id)).toEqual([rare.callId]);
});

it('retention deletes a call after a day', async () => {
  const { id } = await one.workspace();
  const call = noted(id);
  await calls.note([call]);
  await file.process('23 hours').retention.deleteOld('refused_call');
  expect(await idsOf(id)).toEqual([call.callId]);
  await file.process('25 hours').retention.deleteOld('refused_call');
  expect(await idsOf(id)).toEqual([]);
});
