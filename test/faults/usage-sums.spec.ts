import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, waitFor } from '../harness/index.js';

/** A larger number takes `--testTimeout` as well: 1,000,000 take about two minutes. */
const records = Number(process.env['USAGE_RECORDS'] ?? 100_000);
const kills = 6;

let system: System;

// On one transport, because only the database adds usage up.
beforeAll(async () => {
  system = await System.start({ transport: 'postgres', workers: 2, env: { RETENTION_EVERY_MS: '100' } });
});
afterAll(() => system.stop());

/** Records of 120 days, in equal parts of the workspaces, as `finish` writes them, with one ledger entry for all. */
async function insert(workspaceIds: string[]): Promise<void> {
  await system.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros)
     SELECT gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], gen_random_uuid(), 'token:' || n % 5, 'bfl/model-' || n % 11,
       'bfl', 'POST', CASE WHEN n % 7 = 0 THEN 'failed' ELSE 'succeeded' END, NULL, 200, false, at, at, 100, n % 90
     FROM (SELECT n, router_now() - n * interval '120 days' / $2 AS at FROM generate_series(1, $2::integer) AS n) AS times`,
    [workspaceIds, records],
  );
  await system.sql(
    `INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, note)
     SELECT workspace_id, gen_random_uuid(), -sum(billed_micros), 'records' FROM audit_record GROUP BY workspace_id`,
  );
}

it(`usage is exact after ${records} records and ${kills} kills of workers that add them up, beside runs that end`, async () => {
  const callers = await Promise.all([1, 2, 3].map(() => system.caller({ inflightLimit: 50 })));
  const [first] = callers;
  if (!first) throw new Error('no caller');
  await insert(callers.map(({ workspaceId }) => workspaceId));
  const left = async () =>
    Number(
      (
        await system.sql(
          `SELECT count(*) AS n FROM audit_record LEFT JOIN usage_progress USING (workspace_id)
            WHERE completed_at < date_trunc('hour', router_statement_now() - interval '2 minutes', 'UTC')
              AND completed_at >= coalesce(until, '-infinity')`,
        )
      )[0]?.['n'],
    );
  const killedBetween: number[] = [];
  for (let nth = 0; nth < kills; nth += 1) {
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    await Promise.all(callers.map((caller) => caller.submit('bfl/flux-2-pro', '{"prompt":"a cat"}')));
    await sleep(100 + nth * 40);
    await system.kill(worker);
    killedBetween.push(await left());
    await system.startWorker();
  }
  await waitFor(async () => (await left()) === 0, { withinMs: 180_000, what: 'the sums', everyMs: 500 });
  await holdToInvariants(system, 60_000);

  // Otherwise no kill met a worker that was adding up.
  expect(new Set(killedBetween).size).toBeGreaterThanOrEqual(2);
  const differing = await system.sql(
    `WITH sums AS (
        SELECT workspace_id, unit, model, sum(runs) AS runs, sum(succeeded) AS succeeded, sum(billed_micros) AS billed
        FROM usage_sum GROUP BY 1, 2, 3
      ), counted AS (
        SELECT workspace_id, unit, model, count(*) AS runs, count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
          sum(billed_micros) AS billed
        FROM audit_record JOIN usage_progress USING (workspace_id), unnest(ARRAY['hour', 'day']) AS unit
        WHERE completed_at < until GROUP BY 1, 2, 3
      )
      (TABLE sums EXCEPT TABLE counted) UNION ALL (TABLE counted EXCEPT TABLE sums)`,
  );
  expect(differing).toEqual([]);
});

failOnLeftovers();
