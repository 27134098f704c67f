import { type Ending, RefundRepository } from '#persistence';
import type { Page, RouterLedgerEntry } from '#schemas';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests', 'usage', 'manage'];
const model = 'bfl/flux-2-pro';
const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"ok":true}'),
};

async function page(caller: Caller, query = ''): Promise<Page<RouterLedgerEntry>> {
  const answer = await caller.call('GET', `/v2/ledger${query}`);
  expect(answer.status).toBe(200);
  return answer.json() as Page<RouterLedgerEntry>;
}

/** A workspace with a bill, its refund, and a bill of a run with tags, after 10 dollars of credits. */
async function booked() {
  const { caller, workspace } = await gateway().caller({ balanceMicros: 0 }, scopes);
  await gateway().operate((all) =>
    all.change(workspace.id, { addedMicros: 10_000_000, note: 'internal' }, 'test'),
  );
  const first = await caller.submit(model, '{"prompt":"x"}');
  await gateway().finish(first, succeeded);
  await new RefundRepository(gateway().database).refund(first.requestId, 'internal', 'test');
  for (const name of ['weekly', 'daily']) {
    const budget = { window: name === 'daily' ? 'day' : 'week', limit_cents: 1_000 };
    await caller.call('PUT', `/v2/budgets/${name}`, { body: JSON.stringify(budget) });
  }
  const headers = { 'x-service-tags': 'team=web,project=alpha', 'x-service-user': 'u' };
  const second = await caller.submit(model, '{"prompt":"x"}', { headers });
  await gateway().finish(second, succeeded);
  const { cost_cents: cost } = (await caller.call('GET', `/v2/requests/${second.requestId}`)).json();
  return { caller, workspace, first, second, cost: Number(cost) };
}

it('lists bills, refunds and credits, newest first, with the facts of their runs', async () => {
  const { caller, first, second, cost } = await booked();
  const { data, has_more } = await page(caller);
  const always = { id: expect.stringMatching(/^\d+$/), created_at: expect.any(String) };
  const bill = { ...always, kind: 'bill', amount_cents: -cost, model, cost_basis: expect.any(String) };
  expect(data).toEqual([
    {
      ...bill,
      balance_cents: 1_000 - cost,
      request_id: second.requestId,
      tags: { project: 'alpha', team: 'web' },
      user: 'u',
      budgets: ['daily', 'weekly'],
    },
    {
      ...always,
      kind: 'refund',
      amount_cents: cost,
      balance_cents: 1_000,
      request_id: first.requestId,
      model,
    },
    { ...bill, balance_cents: 1_000 - cost, request_id: first.requestId },
    { ...always, kind: 'credits', amount_cents: 1_000, balance_cents: 1_000 },
  ]);
  expect([cost > 0, has_more]).toEqual([true, false]);
  expect(JSON.stringify(data)).not.toContain('internal');
  const stranger = await gateway().caller({}, scopes);
  expect((await page(stranger.caller)).data).toEqual([]);
});

it('pages contain each entry once, while new entries arrive', async () => {
  const { caller, workspace } = await booked();
  const all = (await page(caller)).data.map(({ id }) => id);
  const first = await page(caller, '?limit=3');
  await gateway().operate((workspaces) => workspaces.change(workspace.id, { addedMicros: 1 }, 'test'));
  const next = await page(caller, `?limit=3&cursor=${encodeURIComponent(first.next_cursor ?? '')}`);
  expect([...first.data, ...next.data].map(({ id }) => id)).toEqual(all);
  expect([first.has_more, next.has_more]).toEqual([true, false]);
});

it('is limited to a time range', async () => {
  const { caller } = await booked();
  const { data } = await page(caller);
  const at = data[1]?.created_at ?? '';
  // Two entries may be of the same millisecond.
  const since = data.filter(({ created_at }) => created_at >= at);
  const before = data.filter(({ created_at }) => created_at < at);
  expect((await page(caller, `?from=${encodeURIComponent(at)}`)).data).toEqual(since);
  expect((await page(caller, `?to=${encodeURIComponent(at)}`)).data).toEqual(before);
  expect(Math.min(since.length, before.length)).toBeGreaterThan(0);
});

it('is one CSV of all entries, by format or by Accept', async () => {
  const { caller, workspace, second, cost } = await booked();
  await gateway().database.work.query(
    `INSERT INTO ledger_entry (workspace_id, amount_micros, balance_micros, note)
     SELECT $1, 0, NULL, 'x' FROM generate_series(1, 2500)`,
    [workspace.id],
  );
  const csv = await caller.call('GET', '/v2/ledger?format=csv');
  expect([csv.status, csv.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const lines = csv.bytes.toString().split('\r\n');
  expect(lines[0]).toBe(
    'id,created_at,kind,amount_cents,balance_cents,request_id,model,cost_basis,tags,user,budgets',
  );
  expect([lines.length, lines.at(-1)]).toEqual([1 + 2504 + 1, '']);
  expect(new Set(lines.slice(1, -1).map((line) => line.split(',')[0])).size).toBe(2504);
  expect(lines[2501]).toMatch(
    new RegExp(
      `,bill,-${cost},${1_000 - cost},${second.requestId},${model},\\w+,"project=alpha,team=web",u,"daily,weekly"$`,
    ),
  );
  const accepted = await caller.call('GET', '/v2/ledger', { headers: { accept: 'text/csv' } });
  expect(accepted.bytes.equals(csv.bytes)).toBe(true);
  const json = await caller.call('GET', '/v2/ledger?format=json', { headers: { accept: 'text/csv' } });
  expect(json.json()['data']).toHaveLength(20);
});
