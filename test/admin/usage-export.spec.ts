import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { answerOf, exportedLines } from './run-admin.js';

describe('admin usage export of many records', () => {
  let testDatabase: TestDatabase;
  let env: { DATABASE_URL: string };

  beforeAll(async () => {
    testDatabase = await createDatabase();
    env = { DATABASE_URL: testDatabase.url };
  });
  afterAll(() => testDatabase.drop());

  /** Records of which each 2,500 ended at the same instant. Nothing was billed: there are no entries in the ledger. */
  async function insertRecords(name: string, count: number): Promise<void> {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', name);
    const client = new Client({ connectionString: testDatabase.url });
    await client.connect();
    await client.query(
      `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, route, outcome, bucket, status,
         caller_left, admitted_at, completed_at, cost_micros, billed_micros)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'bfl/flux-2-pro', 'POST', 'succeeded', NULL, 200,
         false, timestamptz '2026-01-01', timestamptz '2026-01-01' + (n / 2500) * interval '1 second', 1, 0
       FROM generate_series(1, $2::integer) AS n`,
      [id, count],
    );
    await client.end();
  }

  it('prints more than its memory could hold, each record once, equal times included', async () => {
    const records = 150_000;
    await insertRecords('busy', records);
    await insertRecords('calm', 1_000);
    const [heading, ...lines] = await exportedLines(
      env,
      ['--workspace', 'busy'],
      ['--max-old-space-size=64'],
    );
    expect(heading?.split(',').slice(0, 2)).toEqual(['request_id', 'run_id']);
    expect(lines).toHaveLength(records);
    expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(records);
    const ends = lines.map((line) => line.split(',')[11] ?? '');
    expect(ends.every((end, index) => index === 0 || end >= (ends[index - 1] ?? ''))).toBe(true);
  });

  it('prints all workspaces one after the other, under one heading', async () => {
    const day = ['--from', '2026-01-01', '--until', '2026-01-01T00:00:01Z'];
    const [, ...lines] = await exportedLines(env, day);
    expect(lines).toHaveLength(2_499 + 1_000);
    expect(lines.map((line) => line.split(',')[2]).indexOf('calm')).toBe(2_499);
  });
});

failOnLeftovers();
