import { expect, it } from '@jest/globals';
import { createLog } from '#observability';
import { waitFor } from '../../../test/harness/wait-for.js';
import { ProcessRow } from './entities/operations.entity.js';
import { ProcessRecord } from './process-record.js';
import { providerKeys, runningProcesses } from './processes.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const { database } = file.process();
const dataSource = await database.dataSource();
const log = createLog('spec', 'silent');

const rows = () => dataSource.getRepository(ProcessRow).find();
const record = (app: string, url = dataSource) =>
  new ProcessRecord(url.getRepository(ProcessRow), { app }, log);
const seen = async () =>
  (await runningProcesses(database)).map(({ app, revision, problem }) => [app, revision, problem]);
const withoutKey = async () =>
  (await providerKeys(database))
    .flatMap(({ provider, hasKey }) => (hasKey ? [] : [provider]))
    .sort((one, other) => (one < other ? -1 : 1));
const slots = async () =>
  Object.fromEntries((await providerKeys(database)).map(({ provider, slots }) => [provider, slots]));
const see = (expected: unknown[]) =>
  waitFor(async () => JSON.stringify(await seen()) === JSON.stringify(expected), {
    withinMs: 20_000,
    what: 'the processes',
  });

it('shows what a process reported last, until it stops', async () => {
  const gateway = record('gateway');
  const worker = record('worker');
  gateway.report({ revision: 'one' });
  worker.report({ revision: 'one' });
  worker.report({ revision: 'one', problem: 'bad.yaml: no id' });
  await see([
    ['gateway', 'one', null],
    ['worker', 'one', 'bad.yaml: no id'],
  ]);
  worker.report({ revision: 'two' });
  await see([
    ['gateway', 'one', null],
    ['worker', 'two', null],
  ]);
  await Promise.all([gateway, worker].map((each) => each.onModuleDestroy()));
  expect(await seen()).toEqual([]);
});

it('hides processes that were silent for 100 s, and the next report of another process deletes them', async () => {
  const past = await file.process('-101 seconds').database.dataSource();
  const silent = record('silent', past);
  silent.report({ revision: 'one' });
  await waitFor(async () => (await rows()).length === 1, { withinMs: 20_000, what: 'the silent process' });
  expect(await seen()).toEqual([]);
  const other = record('worker');
  other.report({ revision: 'one' });
  await waitFor(async () => (await rows()).every(({ app }) => app === 'worker'), {
    withinMs: 20_000,
    what: 'it to be forgotten',
  });
  expect(await seen()).toEqual([['worker', 'one', null]]);
  await Promise.all([silent, other].map((each) => each.onModuleDestroy()));
});

it('tells which providers have no key: unknown until a worker has reported, and the last state while no worker runs', async () => {
  await rows().then((left) =>
    Promise.all(left.map(({ id }) => dataSource.getRepository(ProcessRow).delete(id))),
  );
  const become = (expected: string[]) =>
    waitFor(async () => JSON.stringify(await withoutKey()) === JSON.stringify(expected), {
      withinMs: 20_000,
      what: `no key for ${expected.join()}`,
    });
  const gateway = record('gateway');
  gateway.report({ revision: 'one' });
  await see([['gateway', 'one', null]]);
  expect(await withoutKey()).toEqual([]);

  const [first, second] = [record('worker'), record('worker')];
  first.report({ revision: 'one', providers: { bfl: true, fal: false, luma: false }, slots: 50 });
  await become(['fal', 'luma']);
  second.report({ revision: 'one', providers: { bfl: true, fal: true, luma: false }, slots: 25 });
  await become(['luma']);
  expect(await slots()).toEqual({ bfl: 75, fal: 25, luma: 0 });
  await first.onModuleDestroy();
  expect(await slots()).toEqual({ bfl: 25, fal: 25, luma: 0 });
  await second.onModuleDestroy();
  expect(await slots()).toEqual({ bfl: 0, fal: 0, luma: 0 });
  expect(await withoutKey()).toEqual(['luma']);
  gateway.report({ revision: 'two' });
  await see([['gateway', 'two', null]]);
  expect(await withoutKey()).toEqual(['luma']);

  const third = record('worker');
  third.report({ revision: 'one', providers: { bfl: true, fal: false, luma: true } });
  await become(['fal']);
  third.report({ revision: 'one', providers: { bfl: true, fal: true, luma: true } });
  await become([]);
  await Promise.all([gateway, third].map((each) => each.onModuleDestroy()));
});
