import { expect, it } from '@jest/globals';
import { LedgerReader } from './ledger-reader.js';
import { planOf } from './testing/plan.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const one = file.process();

it('reads a page of a long ledger by index, and only the rows that it lists', async () => {
  const [own, other] = [await one.workspace(), await one.workspace()];
  await one.sql(
    `INSERT INTO ledger_entry (workspace_id, run_id, at, amount_micros, note)
     SELECT ($1::uuid[])[1 + n % 2], gen_random_uuid(), router_now() - n * interval '1 second', 0, 'a/b'
     FROM generate_series(1, 60000) AS n`,
    [[own.id, other.id]],
  );
  await one.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros, attribution)
     SELECT run_id, workspace_id, gen_random_uuid(), 'token:x', 'a/b', 'a', 'POST', 'succeeded', 200, false, at, at, 1, 0,
       '{"user": "u"}' FROM ledger_entry`,
  );
  await one.sql('ANALYZE ledger_entry, audit_record');
  const [newest] = await new LedgerReader(one.database).page(own.id, {}, { limit: 1 });
  for (const after of [undefined, String(Number(newest?.id) - 30_000)]) {
    const plan = await planOf(one, (database) =>
      new LedgerReader(database).page(own.id, {}, { after, limit: 20 }),
    );
    expect(plan.map(({ node }) => node).join('\n')).not.toMatch(/Seq Scan/);
    expect(plan.filter(({ node, rows }) => node.includes('Scan') && rows > 20)).toEqual([]);
    const page = await new LedgerReader(one.database).page(own.id, {}, { after, limit: 20 });
    expect(page.map(({ model, attribution }) => [model, attribution])).toEqual(
      Array.from({ length: 20 }, () => ['a/b', { user: 'u' }]),
    );
  }
});
