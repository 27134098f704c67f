import { afterEach, expect, it, jest } from '@jest/globals';
import { RouterError } from '#errors';
import { DatabaseError } from 'pg';
import { DataSource } from 'typeorm';
import { Database } from './database.js';
import type { Pools } from './pools.js';

const unavailable = (cause: Error) => new RouterError('service_unavailable', 'later', { cause });
const away = unavailable(new Error('connect ECONNREFUSED'));
const tooSlow = unavailable(
  Object.assign(new DatabaseError('canceling statement due to statement timeout', 0, 'error'), {
    code: '57014',
  }),
);

/** A database whose statements take a minute and fail with these errors, one after the other, before they succeed. */
function failing(errors: Error[]) {
  let nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const query = async () => {
    nowMs += 60_000;
    const error = errors.shift();
    if (error !== undefined) throw error;
    return [{ saved: true }];
  };
  const pools = { work: { query }, settings: {} } as unknown as Pools;
  return new Database(new DataSource({ type: 'postgres' }), pools);
}

afterEach(() => void jest.restoreAllMocks());

it('what would be lost is saved after an outage of any length', async () => {
  const database = failing([away, tooSlow, away, away, tooSlow, tooSlow]);
  expect(await database.persist('SELECT', [])).toEqual([{ saved: true }]);
});

it('a statement that only times out is given up after two minutes, because others wait behind it', async () => {
  const database = failing([tooSlow, tooSlow, tooSlow, tooSlow, away]);
  await expect(database.persist('SELECT', [])).rejects.toBe(tooSlow);
});

it('what may be lost is retried for a limited time', async () => {
  const errors = [away, away, away];
  await expect(failing(errors).persist('SELECT', [], 90_000)).rejects.toBe(away);
  expect(errors).toHaveLength(1);
});

it('only the errors of an outage are retried', async () => {
  const bug = new Error('a bug');
  const errors = [bug, bug];
  await expect(failing(errors).persist('SELECT', [])).rejects.toBe(bug);
  expect(errors).toHaveLength(1);
});
