import type { Ending } from '#persistence';
import type { OperatorWorkspace, Page } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') };
const input = '{"prompt":"x"}';
const model = 'bfl/flux-2-pro';

it('lists every workspace with its limits, current use, credits and today’s spend', async () => {
  const facts = { inflightLimit: 1, balanceMicros: 5_000_000, markup: 1.5 };
  const { caller, workspace } = await gateway().caller(facts);
  const done = await caller.submit(model, input);
  await gateway().finish(done, succeeded);
  await gateway().finish(await caller.submit(model, input), succeeded, { ago: '49 hours' });
  await caller.submit(model, input);
  await caller.submit(model, input);
  const operator = await gateway().caller({}, ['operate']);
  const answer = await operator.caller.call('GET', `/v2/operator/workspaces?q=${workspace.name}`);
  const { data, has_more } = answer.json() as Page<OperatorWorkspace>;
  const [found] = data;
  const price = found?.today.cost_cents ?? 0;
  expect(price).toBeGreaterThan(0);
  expect([data.length, has_more]).toEqual([1, false]);
  expect(found).toEqual({
    id: workspace.id,
    name: workspace.name,
    created_at: expect.any(String),
    enabled: true,
    visible: ['**'],
    runnable: ['**'],
    markup: 1.5,
    own_key_fee: 0,
    reservation: 'likely',
    allow_samples: false,
    allow_provider_tools: true,
    required_tags: [],
    requires_user: false,
    limits: {
      inflight: { limit: 1, current: 1 },
      committed_spend_cents: { limit: 10_000, current: expect.any(Number) },
      backlog: { limit: 1000, current: 1 },
      runs_per_minute: { limit: 600, current: expect.any(Number) },
      overdraft_cents: { limit: 2000, current: 0 },
      files: { limit: 1000, current: 0 },
      file_bytes: { limit: 10_737_418_240, current: 0 },
    },
    credits_cents: 500 - 2 * price,
    held_cents: expect.any(Number),
    today: { runs: 1, succeeded: 1, cost_cents: price },
  });
  const one = await operator.caller.call('GET', `/v2/operator/workspaces/${workspace.id}`);
  expect(one.json()).toMatchObject({ name: workspace.name, today: { runs: 1 } });
});

it('an id finds its workspace, even if another workspace has that name', async () => {
  const { workspace } = await gateway().caller();
  await gateway().operate((all) => all.create(`a namesake of ${workspace.id}`, {}));
  const { caller } = await gateway().caller({}, ['operate']);
  for (const id of [workspace.id, workspace.id.toUpperCase()]) {
    const path = `/v2/operator/workspaces/${id}`;
    for (const answer of [
      await caller.call('GET', path),
      await caller.call('PATCH', path, { body: '{"markup":2}' }),
    ])
      expect([answer.status, answer.json()['id']]).toEqual([200, workspace.id]);
  }
});

it('a note may have several lines', async () => {
  const { workspace, caller } = await gateway().caller({}, ['operate']);
  const body = JSON.stringify({ add_credits_cents: 1, note: 'invoice 12\n\tand 13 🦊' });
  const answer = await caller.call('PATCH', `/v2/operator/workspaces/${workspace.id}`, { body });
  expect(answer.status).toBe(200);
});

it('pages are ordered by name', async () => {
  const { caller } = await gateway().caller({}, ['operate']);
  const made = [await gateway().caller(), await gateway().caller()].map(({ workspace }) => workspace.name);
  const names: string[] = [];
  for (let after = ''; ;) {
    const answer = await caller.call('GET', `/v2/operator/workspaces?limit=100${after}`);
    const page = answer.json() as Page<OperatorWorkspace>;
    names.push(...page.data.map(({ name }) => name));
    if (page.next_cursor === undefined) break;
    after = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect(names).toEqual(expect.arrayContaining(made));
  expect(new Set(names).size).toBe(names.length);
});

it('limits, credits and mark-up change at once, for parked runs too, and the author is recorded', async () => {
  const { caller, workspace } = await gateway().caller({ inflightLimit: 1, balanceMicros: 5_000_000 });
  await caller.submit(model, input);
  const parked = await caller.submit(model, input);
  const operator = await gateway().caller({}, ['operate']);
  const change = {
    limits: { inflight: 3, committed_spend_cents: 700, runs_per_minute: 9, files: 2 },
    add_credits_cents: 250,
    note: 'invoice 12',
    markup: 1.25,
  };
  const answer = await operator.caller.call('PATCH', `/v2/operator/workspaces/${workspace.name}`, {
    body: JSON.stringify(change),
  });
  expect(answer.status).toBe(200);
  expect(answer.json() as OperatorWorkspace).toMatchObject({
    markup: 1.25,
    credits_cents: 750,
    limits: {
      inflight: { limit: 3, current: 2 },
      committed_spend_cents: { limit: 700 },
      backlog: { limit: 1000, current: 0 },
      runs_per_minute: { limit: 9 },
      files: { limit: 2 },
    },
  });
  expect((await caller.status(parked)).json()).toMatchObject({ queue_position: 1 });
  expect(await operatorActions(gateway(), workspace.name)).toEqual([
    {
      actor: `key:${operator.keyId}`,
      action: 'workspace.change',
      details: expect.objectContaining({ inflightLimit: 3, addedMicros: 2_500_000, note: 'invoice 12' }),
    },
  ]);
  const unlimited = await operator.caller.call('PATCH', `/v2/operator/workspaces/${workspace.id}`, {
    body: '{"credits_cents":null}',
  });
  expect(unlimited.json()).toMatchObject({ credits_cents: null, markup: 1.25 });
});

it('an access token may have the scope too', async () => {
  const { workspace } = await gateway().caller();
  const call = async (scope: string) =>
    (await fetch(`${gateway().url}/v2/operator/workspaces`, { headers: await bearer(workspace.id, scope) }))
      .status;
  expect([await call('run operate'), await call('manage workspace')]).toEqual([200, 403]);
});
