import { Client } from 'pg';
import { answerOf } from './run-admin.js';

/**
 * Inserts a workspace with records, 2,500 of which end at the same instant. Ten have tags and an end user. Nothing was billed, so there are no
 * ledger entries.
 */
export async function insertRecords(databaseUrl: string, workspace: string, count: number): Promise<void> {
  const { id } = await answerOf<{ id: string }>(
    { DATABASE_URL: databaseUrl },
    'workspace',
    'create',
    workspace,
  );
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
         caller_left, admitted_at, completed_at, cost_micros, billed_micros, attribution)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'bfl/flux-2-pro', 'bfl', 'POST', 'succeeded', NULL, 200,
         false, timestamptz '2026-01-01', timestamptz '2026-01-01' + (n / 2500) * interval '1 second', 1, 0,
         CASE WHEN n <= 10 THEN '{"tag:project": "alpha", "tag:team": "web", "user": "u-7"}'::jsonb END
       FROM generate_series(1, $2::integer) AS n`,
      [id, count],
    );
  } finally {
    await client.end();
  }
}
