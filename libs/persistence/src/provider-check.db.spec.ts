import { expect, it, jest } from '@jest/globals';
import { v7 } from 'uuid';
import { waitFor } from '../../../test/harness/wait-for.js';
import { ProviderCheckRepository } from './provider-check.repository.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const { database } = file.process();
const checks = new ProviderCheckRepository(database);

let cases = 0;
/** A provider, and whether a worker has its key; undefined if no worker knows it. */
const nextProvider = async (hasKey?: boolean) => {
  const provider = `provider-${(cases += 1)}`;
  if (hasKey !== undefined)
    await database.work.query(
      `INSERT INTO process (id, app, host, pid, catalog_revision, providers, slots)
        VALUES ($1, 'worker', 'host', 1, 'one', jsonb_build_object($2::text, $3::boolean), 1)`,
      [v7(), provider, hasKey],
    );
  return provider;
};
/** Takes requests like a worker, until there is one. */
const takeOne = (provider: string) =>
  waitFor(async () => (await checks.take([provider])).length > 0, { withinMs: 20_000, what: 'a request' });
const ok = { result: 'ok', latencyMs: 12, balance: { amount: 7.5, unit: 'credits' } } as const;

it('says why a provider cannot be called', async () => {
  expect(await checks.check(await nextProvider(false), true)).toEqual({ result: 'no_key' });
  expect(await checks.check(await nextProvider(true), false)).toEqual({ result: 'no_free_check' });
  expect(await checks.check(await nextProvider(), true)).toEqual({ result: 'no_worker' });
});

it('one worker makes the call, and everybody who waits gets its answer', async () => {
  const provider = await nextProvider(true);
  const queries = jest.spyOn(database.work, 'query');
  const requests = () =>
    queries.mock.results.filter((_, nth) =>
      String(queries.mock.calls[nth]?.[0]).startsWith('INSERT INTO provider_check'),
    );
  const answers = [checks.check(provider, true), checks.check(provider, true)];
  await takeOne(provider);
  expect(await checks.take([provider])).toEqual([]);
  // A request that came after the answer would wait for another one.
  await waitFor(() => requests().length === 2, { withinMs: 20_000, what: 'both requests' });
  await Promise.all(requests().map(({ value }) => value));
  queries.mockRestore();
  await checks.answer(provider, ok);
  const checkedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(await Promise.all(answers)).toEqual([
    { ...ok, checkedAt },
    { ...ok, checkedAt },
  ]);
  expect((await checks.list()).get(provider)).toEqual({ ...ok, checkedAt });
  // The answer is not taken for that of a later request.
  const later = checks.check(provider, true);
  await takeOne(provider);
  await checks.answer(provider, { result: 'rejected', httpStatus: 401 });
  expect(await later).toMatchObject({ result: 'rejected', httpStatus: 401 });
});

it('a worker takes only providers that it can check', async () => {
  const provider = await nextProvider(true);
  const answer = checks.check(provider, true);
  expect(await checks.take(['provider-of-nobody'])).toEqual([]);
  await takeOne(provider);
  await checks.answer(provider, ok);
  await answer;
});

it('a request that nobody waits for any more is not taken, and the next one is', async () => {
  const provider = await nextProvider(true);
  await database.work.query(
    `INSERT INTO provider_check (provider, asked_at, taken_at)
      VALUES ($1, router_now() - interval '1 minute', router_now() - interval '1 minute')`,
    [provider],
  );
  expect(await checks.take([provider])).toEqual([]);
  const answer = checks.check(provider, true);
  await takeOne(provider);
  await checks.answer(provider, ok);
  expect(await answer).toMatchObject(ok);
});
