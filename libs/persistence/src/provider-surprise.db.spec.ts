import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { type NotedSurprise, ProviderSurpriseRepository } from './provider-surprise.repository.js';
import { testModel } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const one = file.process();
const { database } = one;
const surprises = new ProviderSurpriseRepository(database);

const noted = (more: Partial<NotedSurprise>): NotedSurprise => ({
  provider: 'bfl',
  kind: 'unknown_status',
  count: 1,
  agoMs: 0,
  runId: v7(),
  detail: 'It says “Composing”.',
  ...more,
});

it('keeps one row of each provider and kind, with the sum and the newest reply', async () => {
  const newest = noted({
    count: 3,
    runId: await one.run((await one.workspace()).id),
    detail: 'It says “Painting”.',
    httpStatus: 200,
    reply: '{"a":"\u0000"}',
  });
  await surprises.note([noted({ agoMs: 60_000 }), noted({ kind: 'missing_cost' })]);
  await surprises.note([newest]);
  const listed = await surprises.list();
  expect(listed.map(({ kind, count }) => [kind, count])).toEqual(
    expect.arrayContaining([
      ['unknown_status', 4],
      ['missing_cost', 1],
    ]),
  );
  const row = listed.find(({ kind }) => kind === 'unknown_status');
  expect(row).toMatchObject({
    provider: 'bfl',
    runId: newest.runId,
    model: testModel,
    detail: newest.detail,
    httpStatus: 200,
    reply: '{"a":"\uFFFD"}',
  });
  expect(Number(row?.lastAt) - Number(row?.firstAt)).toBeGreaterThan(50_000);
});

it('retention deletes rows whose newest reply is older than a result', async () => {
  await surprises.note([noted({ provider: 'old', agoMs: 0 })]);
  expect(await file.process().retention.deleteOld('provider_surprise')).toBe(0);
  expect(await file.process('40 days').retention.deleteOld('provider_surprise')).toBeGreaterThan(0);
  expect((await surprises.list()).filter(({ provider }) => provider === 'old')).toEqual([]);
});
