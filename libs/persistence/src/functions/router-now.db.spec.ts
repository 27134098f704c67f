import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { createDatabase, type TestDatabase } from '../../../../test/harness/database.js';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';

/** Clock functions of Postgres. Those of JavaScript are method calls. */
const otherClocks = /clock_timestamp|statement_timestamp|(?<![.\w])now\(\)|current_timestamp/i;

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
failOnLeftovers();

async function inSession<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The offset from the server's clock in hours. `router_statement_now()` is the earlier of the two. */
async function hoursAhead(client: Client): Promise<number[]> {
  const { rows } = await client.query<{ clock: string; statement: string }>(
    `SELECT extract(epoch FROM router_now() - clock_timestamp()) / 3600 AS clock,
       extract(epoch FROM router_statement_now() - statement_timestamp()) / 3600 AS statement`,
  );
  return rows.flatMap((row) => [Number(row.clock), Number(row.statement)]);
}

const near = (hours: number) => [expect.closeTo(hours, 2), expect.closeTo(hours, 2)];

describe('router_now', () => {
  it('is the clock of the server', async () => {
    expect(await inSession(database.url, hoursAhead)).toEqual(near(0));
  });

  it.each([
    ['-25 hours', -25],
    ['+1 day 30 minutes', 24.5],
    ['  90\t minutes ', 1.5],
  ])('is off by the offset in the URL of the session: %s', async (offset, hours) => {
    expect(await inSession(database.at(offset), hoursAhead)).toEqual(near(hours));
  });

  it('is the clock of the server again when the offset is reset', async () => {
    const hours = await inSession(database.url, async (client) => {
      await client.query(`BEGIN; SET LOCAL router.clock_offset = '3 hours'`);
      const moved = await hoursAhead(client);
      await client.query('COMMIT');
      return [...moved, ...(await hoursAhead(client))];
    });
    expect(hours).toEqual([...near(3), ...near(0)]);
  });
});

describe('router_statement_now', () => {
  it('is constant during a statement, while router_now advances', async () => {
    const [row] = await inSession(database.url, async (client) => {
      const { rows } = await client.query<{ still: string; moved: string }>(
        `SELECT count(DISTINCT router_statement_now()) AS still, count(DISTINCT router_now()) AS moved
         FROM generate_series(1, 1000)`,
      );
      return rows;
    });
    expect(Number(row?.still)).toBe(1);
    expect(Number(row?.moved)).toBeGreaterThan(1);
  });

  it('can be used as the bound of an index search', async () => {
    const plan = await inSession(database.url, (client) =>
      explain(client, 'SELECT run_id FROM outbox WHERE due_at <= router_statement_now() ORDER BY due_at'),
    );
    expect(plan).toMatch(/Index Cond: \(outbox\.due_at <= \(statement_timestamp\(\)/);
  });
});

it('lets the planner estimate the number of rows, as now() does', async () => {
  const plan = await inSession(database.at('50 minutes'), async (client) => {
    await client.query(
      `INSERT INTO stored_object SELECT n, gen_random_uuid(), clock_timestamp() + n * interval '1 minute'
       FROM generate_series(1, 1000) AS n`,
    );
    await client.query('ANALYZE stored_object');
    return explain(client, 'SELECT key FROM stored_object WHERE delete_at <= router_statement_now()');
  });
  // Without a known value the planner assumes a third of the rows.
  expect(Number(/ rows=(\d+)/.exec(plan)?.[1])).toBeCloseTo(50, -2);
});

it('costs no function call, because the planner inlines the expression', async () => {
  const plan = await inSession(database.url, (client) =>
    explain(client, 'SELECT router_now(), router_statement_now()'),
  );
  expect(plan).toContain('clock_timestamp()');
  expect(plan).not.toContain('router_');
});

it('is the only clock in our SQL, except for the measurement of the clock skew', () => {
  const sources = fileURLToPath(new URL('..', import.meta.url));
  const others = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .filter((file) => otherClocks.test(readFileSync(path.join(sources, file), 'utf8')));
  expect(others.toSorted()).toEqual(['clock-skew.ts', path.join('functions', 'router-now.ts')]);
});

async function explain(client: Client, query: string): Promise<string> {
  await client.query('SET enable_seqscan = off');
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (VERBOSE) ${query}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
