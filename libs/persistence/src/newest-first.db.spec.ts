import { beforeAll, describe, expect, it } from '@jest/globals';
import { FileRepository } from './file.repository.js';
import { planOf } from './testing/plan.js';
import { SpecDatabase } from './testing/spec-database.js';
import { type ListedWebhook, WebhookRepository } from './webhook.repository.js';

const file = await SpecDatabase.create();
const process = file.process();
const count = 100_000;

/** Inserts rows with growing ids. The suffix separates those of two workspaces. */
const ids = `SELECT n, (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-' || left(md5($1::text), 12))::uuid AS id
  FROM generate_series($2::integer + 1, $2::integer + $3::integer) AS n`;

/** One in a thousand was given up, and one in a thousand is pending. */
const webhooks = `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at, ended_at, delivered)
  SELECT id, $1::uuid, 'bfl/flux-2-pro', 'x', now(), 'https://x/a', 'https://x', 'standard', 'infinity',
    CASE WHEN n % 1000 <> 1 THEN now() END, n % 1000 > 1 FROM (${ids}) AS runs`;

const files = `INSERT INTO stored_object (key, owner_id, delete_at, workspace_id, bytes, content_type)
  SELECT 'files/' || id, id, now() + interval '1 day', $1::uuid, 1, 'image/png' FROM (${ids}) AS files`;

async function insert(text: string, workspaceId: string, rows: number): Promise<void> {
  const batch = Math.min(rows, 20_000);
  for (let from = 0; from < rows; from += batch) await process.sql(text, [workspaceId, from, batch]);
}

const heldToItsIndex = (plan: Awaited<ReturnType<typeof planOf>>, index: RegExp, maxRows: number) => {
  const text = plan.map(({ node }) => node).join('\n');
  expect(text).toMatch(index);
  expect(text).not.toMatch(/Seq Scan on (webhook|stored)|_pkey on webhook|_owner on stored/);
  expect(plan.filter(({ rows }) => rows > maxRows)).toEqual([]);
};

describe('with 100,000 webhooks and files of one workspace, and another workspace', () => {
  let workspaceId: string;
  beforeAll(async () => {
    const [own, other] = [await process.workspace(), await process.workspace()];
    workspaceId = own.id;
    for (const text of [webhooks, files]) {
      await insert(text, own.id, count);
      await insert(text, other.id, 1_000);
    }
    await process.sql('ANALYZE webhook, stored_object, workspace');
  });

  it.each<[ListedWebhook['state'] | undefined, RegExp, number]>([
    [undefined, /webhook_workspace/, 20],
    ['delivered', /webhook_workspace/, 20],
    ['given_up', /webhook_undelivered/, 20],
    // Only a hundred are pending.
    ['pending', /webhook_undelivered|webhook_due/, 100],
  ])(
    'reads a page of webhooks by index, and only the rows that it lists: %s',
    async (state, index, maxRows) => {
      const plan = await planOf(process, (database) =>
        new WebhookRepository(database, { RESULT_RETENTION_SECONDS: 86_400 }).list({
          workspaceId,
          state,
          limit: 20,
        }),
      );
      heldToItsIndex(plan, index, maxRows);
    },
  );

  it('reads a page of files by index', async () => {
    const read = (limit: number, after?: string) =>
      new FileRepository(process.database).list(workspaceId, { after, limit });
    const after = (await read(500)).at(-1)?.id;
    const plan = await planOf(process, (database) =>
      new FileRepository(database).list(workspaceId, { after, limit: 20 }),
    );
    heldToItsIndex(plan, /stored_object_file/, 20);
    expect((await read(1, after))[0]?.id).toBe((await read(501)).at(-1)?.id);
  });
});
