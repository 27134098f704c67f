import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { readMigrations, SqlMigration } from './migrations.js';
import { addFirstReleaseRuns, makeFirstRelease, runMigrations } from './testing/first-release.js';
import { migrationCosts } from './testing/migration-costs.js';
import { openRunFixture } from './testing/run-fixture.js';
import { succeeded } from './testing/runs.js';

const fixture = await openRunFixture();

beforeAll(async () => {
  // Each later migration is tried on the schema that precedes it.
  await makeFirstRelease(fixture.database.url);
  // An empty table has nothing to scan or rewrite.
  const [ended] = await addFirstReleaseRuns(fixture.database.url);
  if (ended) await fixture.first.finish(ended.runId, ended.epoch, succeeded);
});

async function costsOf(migration: SqlMigration): Promise<string[]> {
  const client = new Client({ connectionString: fixture.database.url });
  await client.connect();
  try {
    return await migrationCosts(client, migration);
  } finally {
    await client.end();
  }
}
const planted = (text: string) => new SqlMigration('1764000000000-planted.sql', text);

const [first, ...later] = readMigrations().map((Migration) => new Migration());

it('the first migration is that of the first release', () => {
  expect([first?.name, first?.digest]).toEqual([
    'InitialSchema1763700000000',
    '7322374165803537f037741d9426f1307731c047d28b4156e653c881b7bebeb9',
  ]);
});

it('no later migration scans or rewrites a table while it blocks callers', async () => {
  for (const [index, migration] of later.entries()) {
    expect([migration.name, await costsOf(migration)]).toEqual([migration.name, []]);
    await runMigrations(fixture.database.url, readMigrations().slice(0, index + 2));
  }
});

describe('an example migration', () => {
  it.each([
    ['a nullable column', 'ALTER TABLE outbox ADD COLUMN planted integer'],
    ['a column with a constant default', `ALTER TABLE run ADD COLUMN planted text NOT NULL DEFAULT 'none'`],
    ['a foreign key of a new column', 'ALTER TABLE api_key ADD COLUMN planted uuid REFERENCES api_key (id)'],
    ['a check that is validated later', 'ALTER TABLE run ADD CHECK (epoch >= 0) NOT VALID'],
    ['a new table and its index', 'CREATE TABLE planted (id uuid); CREATE INDEX ON planted (id)'],
    ['a default for new rows', 'ALTER TABLE workspace ALTER COLUMN inflight_limit SET DEFAULT 6'],
    [
      'an index that is built concurrently',
      '-- without a transaction\nDROP INDEX CONCURRENTLY IF EXISTS planted;\nCREATE INDEX CONCURRENTLY planted ON outbox (provider);\n',
    ],
    [
      'a new table outside a transaction',
      '-- without a transaction\nCREATE TABLE IF NOT EXISTS planted (id uuid);\n',
    ],
  ])('may create %s', async (_what, text) => {
    expect(await costsOf(planted(text))).toEqual([]);
  });

  it.each([
    ['an index', 'CREATE INDEX planted ON outbox (provider)', ['builds planted']],
    [
      'a volatile default',
      'ALTER TABLE outbox ADD COLUMN planted uuid DEFAULT gen_random_uuid()',
      ['rewrites outbox'],
    ],
    [
      'a generated column',
      `ALTER TABLE outbox ADD COLUMN planted text GENERATED ALWAYS AS (provider || '.') STORED`,
      ['rewrites outbox'],
    ],
    [
      'a column whose domain has a check',
      'ALTER TABLE outbox ADD COLUMN planted micros',
      ['rewrites outbox'],
    ],
    ['a new type', 'ALTER TABLE outbox ALTER COLUMN place TYPE numeric', ['rewrites outbox']],
    [
      'a column that becomes NOT NULL',
      'ALTER TABLE audit_record ALTER COLUMN granted_at SET NOT NULL',
      ['scans audit_record'],
    ],
    ['a constraint that checks every row', 'ALTER TABLE outbox ADD CHECK (place > 0)', ['scans outbox']],
    [
      'a foreign key that checks every row',
      'ALTER TABLE outbox ADD FOREIGN KEY (workspace_id) REFERENCES workspace',
      ['scans outbox'],
    ],
    ['a value for every row', 'UPDATE workspace SET backlog_limit = 999', ['writes rows of workspace']],
    ['a primary key', 'ALTER TABLE webhook ADD UNIQUE (run_id, url)', ['builds webhook_run_id_url_key']],
    [
      'an index that locks, outside a transaction',
      '-- without a transaction\nCREATE INDEX planted ON outbox (provider);\n',
      ['runs without a transaction: -- without a transaction\nCREATE INDEX planted ON outbox (provider)'],
    ],
  ])('is reported for %s', async (_what, text, costs) => {
    expect(await costsOf(planted(text))).toEqual(expect.arrayContaining(costs));
  });
});
