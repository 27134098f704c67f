import { expect, it } from '@jest/globals';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const dataSource = await file.process().database.dataSource();

// TypeORM's metadata of generated columns includes the name of the database, and this one is a renamed copy.
await dataSource.query('UPDATE typeorm_metadata SET database = current_database()');

/** The changes that TypeORM would make so that the database matches the entities. */
async function differences(): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

it('TypeORM finds no difference between the entities and the migrated database', async () => {
  expect(await differences()).toEqual([]);
});

it.each([
  ['a missing column', 'ALTER TABLE outbox DROP COLUMN waiting'],
  ['a column with another type', 'ALTER TABLE run ALTER COLUMN status TYPE bigint'],
  ['another nullability', 'ALTER TABLE api_key ALTER COLUMN name DROP NOT NULL'],
  ['another default', 'ALTER TABLE workspace ALTER COLUMN inflight_limit SET DEFAULT 6'],
  ['a missing index', 'DROP INDEX outbox_due'],
  ['an index without an entity', 'CREATE INDEX run_model ON run (model)'],
  ['a missing check', 'ALTER TABLE payload DROP CONSTRAINT payload_check'],
  ['a missing foreign key', 'ALTER TABLE api_key DROP CONSTRAINT api_key_workspace_id_fkey'],
  ['another expression', `UPDATE typeorm_metadata SET value = 'status' WHERE name = 'listed_status'`],
])('and it would find %s', async (_what, change) => {
  const before = await differences();
  await dataSource.query(change);
  expect(await differences()).not.toEqual(before);
});

it.each([
  ['quantity', '-1'],
  ['micros', '-1'],
  ['byte_count', '-1'],
  ['price_factor', '100.1'],
  ...['run_mode', 'run_stage', 'run_outcome', 'run_queue', 'payload_kind', 'billing_basis'].map((domain) => [
    domain,
    'none',
  ]),
])('no column of type %s can hold %s', async (domain, value) => {
  await expect(dataSource.query(`SELECT $1::${domain}`, [value])).rejects.toThrow('check constraint');
});
