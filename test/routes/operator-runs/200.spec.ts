import type { Ending } from '#persistence';
import type { OperatorRun, Page } from '#schemas';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';
const input = '{"prompt":"x"}';
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'no',
  billable: false,
};

/** All pages, two runs at a time. */
async function listed(caller: Caller, query: string): Promise<OperatorRun[]> {
  const runs: OperatorRun[] = [];
  for (let after = ''; ;) {
    const answer = await caller.call('GET', `/v2/operator/runs?limit=2&${query}${after}`);
    const page = answer.json() as Page<OperatorRun>;
    runs.push(...page.data);
    if (page.next_cursor === undefined) return runs;
    after = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

it('lists failed runs of a period, newest first, by workspace, provider and bucket', async () => {
  const { caller, workspace } = await gateway().caller();
  const [first, second, third] = [
    await caller.submit(model, input),
    await caller.submit(model, input),
    await caller.submit(model, input),
  ];
  for (const run of [first, second, third]) await gateway().finish(run, failed);
  await gateway().finish(await caller.submit(model, input), failed, { ago: '30 hours' });
  await gateway().finish(await caller.submit(model, input), {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  const operator = await gateway().caller({}, ['operate']);
  const of = `state=failed&workspace=${workspace.id}`;
  const found = await listed(operator.caller, of);
  expect(found.map(({ request_id }) => request_id)).toEqual(
    [third, second, first].map(({ requestId }) => requestId),
  );
  expect(found[0]).toMatchObject({
    workspace: { id: workspace.id, name: workspace.name },
    model,
    provider: 'bfl',
    status: 'COMPLETED',
    stage: 'completed',
    error_type: 'provider_error',
    error_status: 502,
    completed_at: expect.any(String),
  });
  const shouted = `state=failed&workspace=${workspace.id.toUpperCase()}`;
  expect(await listed(operator.caller, shouted)).toHaveLength(3);
  expect(await listed(operator.caller, `${of}&hours=48`)).toHaveLength(4);
  expect(await listed(operator.caller, `${of}&error_type=provider_timeout`)).toEqual([]);
  expect(await listed(operator.caller, `${of}&provider=fal`)).toEqual([]);
});

it('lists live runs that no worker takes, that are over their time budget, or that do not progress', async () => {
  const { caller, workspace } = await gateway().caller({ inflightLimit: 4 });
  const runs = [];
  for (let count = 0; count < 5; count += 1) runs.push(await caller.submit(model, input));
  const [overdue, late, still, , parked] = runs;
  const set = (text: string, run = overdue) => gateway().database.work.query(text, [run?.requestId]);
  if (late) await gateway().dispatch(late);
  await set("UPDATE outbox SET due_at = router_now() - interval '2 minutes' WHERE run_id = $1");
  await set("UPDATE run SET deadline_at = router_now() - interval '2 minutes' WHERE id = $1", late);
  await set("UPDATE run SET granted_at = router_now() - interval '11 minutes' WHERE id = $1", still);
  await set("UPDATE run SET admitted_at = router_now() - interval '11 minutes' WHERE id = $1", parked);
  const operator = await gateway().caller({}, ['operate']);
  const reasons = async (query = '') =>
    (await listed(operator.caller, `state=stuck${query}`))
      .filter((run) => run.workspace.id === workspace.id)
      .map(({ request_id, reason }) => [request_id, reason]);
  expect(await reasons()).toEqual([
    [overdue?.requestId, 'overdue'],
    [late?.requestId, 'past_deadline'],
    [still?.requestId, 'no_progress'],
  ]);
  expect(await reasons('&after_seconds=3600')).toHaveLength(2);
});
