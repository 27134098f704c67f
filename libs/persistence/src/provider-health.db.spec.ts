import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import type { NotedResults, ProviderResult } from './provider-health.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const { database, health } = file.process();

let cases = 0;
const nextProvider = async (simulated = false) => {
  const provider = `provider-${(cases += 1)}`;
  await database.work.query(
    `INSERT INTO process (id, app, host, pid, catalog_revision, providers, simulated, slots)
      VALUES ($1, 'worker', 'host', 1, 'one', jsonb_build_object($2::text, true), $3, 1)`,
    [v7(), provider, simulated ? [provider] : null],
  );
  return provider;
};
const note = (provider: string, result: ProviderResult, ms: number, run = v7()): Promise<void> =>
  health.note([{ provider, results: [{ run, ms, result }] }]);
/** One failed run of each provider. */
const failAll = (providers: string[]) =>
  health.note(providers.map((provider) => ({ provider, results: [{ run: v7(), ms: 0, result: 'failed' }] })));
const of = async (provider: string, by = health) =>
  (await by.list()).find((each) => each.provider === provider);

it('counts each run once, with its newest result, and the newest twenty runs', async () => {
  const provider = await nextProvider();
  const run = v7();
  await note(provider, 'failed', 2_000, run);
  expect(await of(provider)).toMatchObject({ runs: 1, failed: 1, state: 'ready' });
  await note(provider, 'ok', 1_000, run);
  // A result that another worker noted later, although it is older.
  await note(provider, 'failed', 1_500, run);
  expect(await of(provider)).toMatchObject({ runs: 1, failed: 0 });
  const results = Array.from({ length: 30 }, (_, index): NotedResults['results'][number] => ({
    run: v7(),
    ms: 100 + index,
    result: index < 18 ? 'failed' : 'throttled',
  }));
  await health.note([{ provider, results }]);
  expect(await of(provider)).toMatchObject({ runs: 20, failed: 18, throttled: 2, state: 'failing' });
  const [row] = await database.work.query<{ kept: number }>(
    'SELECT jsonb_array_length(results) AS kept FROM provider_health WHERE provider = $1',
    [provider],
  );
  expect(row?.kept).toBe(20);
});

it('failures and throttling count for 15 minutes, a rejected key for an hour', async () => {
  const failing = await nextProvider();
  const rejected = await nextProvider();
  for (let each = 0; each < 3; each += 1) await note(failing, 'failed', 0);
  await note(rejected, 'key_rejected', 0);
  const states = async (by = health) => [(await of(failing, by))?.state, (await of(rejected, by))?.state];
  expect(await states()).toEqual(['failing', 'key_rejected']);
  // The processes were seen too long ago by then, but their last report stays.
  expect(await states(file.process('16 minutes').health)).toEqual(['ready', 'key_rejected']);
  expect(await states(file.process('61 minutes').health)).toEqual(['ready', 'ready']);
});

it('a call that the provider accepts ends the rejection of the key, and a later rejection begins it again', async () => {
  const provider = await nextProvider();
  await note(provider, 'no_balance', 3_000);
  expect((await of(provider))?.state).toBe('no_balance');
  await health.note([{ provider, answeredMs: 2_000, results: [] }]);
  expect((await of(provider))?.state).toBe('ready');
  await note(provider, 'key_rejected', 1_000);
  expect((await of(provider))?.state).toBe('key_rejected');
  // An older reply, from another worker.
  await health.note([{ provider, answeredMs: 2_500, results: [] }]);
  expect((await of(provider))?.state).toBe('key_rejected');
});

it('workers that note results of the same providers at once lose none', async () => {
  const [one, two] = [await nextProvider(), await nextProvider()];
  await Promise.all(
    Array.from({ length: 8 }, (_, index) => failAll(index % 2 === 0 ? [one, two] : [two, one])),
  );
  expect([(await of(one))?.failed, (await of(two))?.failed]).toEqual([8, 8]);
});

it('lists the known providers too, those that the simulator serves as such', async () => {
  const simulated = await nextProvider(true);
  expect(await of(simulated)).toMatchObject({ hasKey: true, simulated: true, state: 'simulated' });
  expect(await health.list(['another'])).toContainEqual({
    provider: 'another',
    hasKey: null,
    simulated: false,
    slots: 0,
    state: null,
    pauses: [],
    runs: 0,
    failed: 0,
    throttled: 0,
  });
});
