import { expect, it } from '@jest/globals';
import { createLog } from '#observability';
import { waitFor } from '../../../test/harness/wait-for.js';
import { ProcessRow } from './entities/operations.entity.js';
import { ProcessRecord, runningProcesses } from './processes.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const dataSource = await file.process().database.dataSource();
const log = createLog('spec', 'silent');

const rows = () => dataSource.getRepository(ProcessRow).find();
const record = (app: string, url = dataSource) =>
  new ProcessRecord(url.getRepository(ProcessRow), { app }, log);
const seen = async () =>
  (await runningProcesses(dataSource)).map(({ app, revision, problem }) => [app, revision, problem]);
const see = (expected: unknown[]) =>
  waitFor(async () => JSON.stringify(await seen()) === JSON.stringify(expected), {
    withinMs: 20_000,
    what: 'the processes',
  });

it('of an app show what it reported last, until it stops', async () => {
  const gateway = record('gateway');
  const worker = record('worker');
  gateway.report({ revision: 'one' });
  worker.report({ revision: 'one' });
  worker.report({ revision: 'one', problem: 'bad.yaml: no id' });
  await see([
    ['gateway', 'one', undefined],
    ['worker', 'one', 'bad.yaml: no id'],
  ]);
  worker.report({ revision: 'two' });
  await see([
    ['gateway', 'one', undefined],
    ['worker', 'two', undefined],
  ]);
  await Promise.all([gateway, worker].map((each) => each.onModuleDestroy()));
  expect(await seen()).toEqual([]);
});

it('that have been silent for 100 s are gone, and forgotten by the next report of another', async () => {
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
  expect(await seen()).toEqual([['worker', 'one', undefined]]);
  await Promise.all([silent, other].map((each) => each.onModuleDestroy()));
});
