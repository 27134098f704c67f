import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLog, Metrics } from '#observability';
import { ClockSkew } from './clock-skew.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const { database } = file.process();
const systemNow = Date.now.bind(Date);

let metrics: Metrics;
let skew: ClockSkew;
beforeEach(async () => {
  metrics = new Metrics();
  const log = createLog('spec', 'silent');
  skew = new ClockSkew(database, metrics, log, log);
  // Open a connection, so that the first measurement is useful.
  await database.reads.query('SELECT 1');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await skew.onModuleDestroy();
});

const machineIsOffBy = (ms: number) => jest.spyOn(Date, 'now').mockImplementation(() => systemNow() + ms);

describe('a clock', () => {
  it.each([0, 1500, -1500])('that is off by %i ms is not a problem', async (ms) => {
    machineIsOffBy(ms);
    await skew.onModuleInit();
    expect(skew.problem).toBeUndefined();
  });

  it.each([
    [600_000, "this machine's clock is 600.0 s ahead of the database's"],
    [-600_000, "this machine's clock is 600.0 s behind the database's"],
  ])('that is off by %i ms is a problem, with the measured skew', async (ms, problem) => {
    machineIsOffBy(ms);
    await skew.onModuleInit();
    expect(skew.problem?.replace(/(599|600)\.\d/, '600.0')).toBe(problem);
    const [{ value } = { value: 0 }] = (await metrics.clockSkewSeconds.get()).values;
    expect(Math.round(value)).toBe(ms / 1000);
  });

  it('is no longer a problem after it is corrected', async () => {
    machineIsOffBy(600_000);
    await skew.onModuleInit();
    machineIsOffBy(0);
    await skew.measure();
    expect(skew.problem).toBeUndefined();
  });
});

it('tells the database’s time, also if both clocks differ', async () => {
  const { database: tomorrows } = file.process('1 day');
  await tomorrows.reads.query('SELECT 1');
  const log = createLog('spec', 'silent');
  const tomorrow = new ClockSkew(tomorrows, metrics, log, log);
  const daysAhead = () => Math.round((tomorrow.databaseNowMs() - systemNow()) / 86_400_000);
  expect(daysAhead()).toBe(0);
  machineIsOffBy(3 * 86_400_000);
  await tomorrow.measure();
  expect(daysAhead()).toBe(1);
});

it('is not judged by a reply that came late', async () => {
  const times = [0, 5000];
  jest.spyOn(Date, 'now').mockImplementation(() => systemNow() + 600_000 + (times.shift() ?? 0));
  expect(await skew.measure()).toBe(false);
  expect(skew.problem).toBeUndefined();
});
