import { readSettings } from '#schemas';
import { expect, it } from '@jest/globals';
import { oldRowsOf, otherEnds } from './old-rows.js';
import { RetentionRepository } from './retention.repository.js';
import { retentionSettings } from './settings.js';
import { openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const periods = readSettings(retentionSettings, {});
const rules: string[] = [...Object.keys(oldRowsOf(periods)), ...Object.keys(otherEnds)];

/** The tables without a rule, and the rules without a table. */
async function unmatched(): Promise<{ tables: string[]; rules: string[] }> {
  const found = await fixture.first.sql<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'm') AND NOT relispartition ORDER BY 1`,
  );
  const tables = found.map(({ name }) => name);
  return {
    tables: tables.filter((name) => !rules.includes(name)),
    rules: rules.filter((name) => !tables.includes(name)),
  };
}

it('each table of the database has one rule by which its rows end', async () => {
  expect(await unmatched()).toEqual({ tables: [], rules: [] });
  expect(rules.length).toBe(new Set(rules).size);
  await fixture.first.sql('CREATE TABLE planted (content text)');
  expect(await unmatched()).toEqual({ tables: ['planted'], rules: [] });
  await fixture.first.sql('DROP TABLE planted');
});

it.each(Object.keys(otherEnds) as (keyof typeof otherEnds)[])('%s has a reason', (table) => {
  expect(otherEnds[table]).toMatch(/^[A-Z`].{8,}\.$/);
});

it('pieces of streams and windows of budgets are deleted when they are old', async () => {
  const { runId, spaceId } = await fixture.run('completed');
  await fixture.first.sql(`SELECT write_stream(ARRAY[$1::uuid], '{1}', '{0}', '{abc}', 100)`, [runId]);
  const [budget] = await fixture.first.sql<{ id: string }>(
    `INSERT INTO budget (id, workspace_id, name, scope, period, time_zone, limit_micros, hard)
     VALUES (gen_random_uuid(), $1, 'b', 'workspace', 'day', 'UTC', 1, true) RETURNING id`,
    [spaceId],
  );
  await fixture.first.sql(
    `INSERT INTO budget_window (budget_id, value, starts_at, ends_at)
     SELECT $1, '', router_now() - interval '1 day', router_now()`,
    [budget?.id],
  );
  const left = async (offset: string) => {
    const retention = new RetentionRepository(fixture.at(offset).database, periods);
    for (const table of retention.sweptTables) await retention.deleteOld(table);
    const [row] = await fixture.first.sql(
      `SELECT (SELECT count(*) FROM stream_piece)::integer AS pieces, (SELECT count(*) FROM budget_window)::integer AS windows`,
    );
    return row;
  };
  expect(await left('14 minutes')).toEqual({ pieces: 1, windows: 1 });
  expect(await left('16 minutes')).toEqual({ pieces: 0, windows: 1 });
  expect(await left('36 days')).toEqual({ pieces: 0, windows: 0 });
});

it('the pieces of a deleted run go with it', async () => {
  const [gone, kept] = [await fixture.run('completed'), await fixture.run('completed')];
  for (const { runId } of [gone, kept])
    await fixture.first.sql(`SELECT write_stream(ARRAY[$1::uuid], '{1}', '{0}', '{abc}', 100)`, [runId]);
  await fixture.first.sql('SELECT erase_run($1, $2, $3)', [gone.spaceId, gone.runId, 'test']);
  expect(
    await fixture.first.sql('SELECT run_id AS "runId" FROM stream_piece WHERE run_id = ANY ($1)', [
      [gone.runId, kept.runId],
    ]),
  ).toEqual([{ runId: kept.runId }]);
});
