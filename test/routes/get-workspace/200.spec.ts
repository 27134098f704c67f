import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';

const gateway = sharedGateway();
const scopes = ['run', 'workspace'];

it('shows the limits, their current use, and the credits', async () => {
  const facts = { inflightLimit: 1, backlogLimit: 7, balanceMicros: 5_000_000, markup: 1.5 };
  const { caller, workspace, keyId } = await gateway().caller(facts, scopes);
  const read = async () => (await caller.call('GET', '/v2/workspace')).json();
  const nothing = {
    inflight: { limit: 1, current: 0 },
    committed_spend_cents: { limit: 10_000, current: 0 },
    backlog: { limit: 7, current: 0 },
    runs_per_minute: { limit: 600, current: 0 },
    overdraft_cents: { limit: 2000, current: 0 },
  };
  expect(await read()).toEqual({
    id: workspace.id,
    name: workspace.name,
    limits: nothing,
    credits_cents: 500,
    held_cents: 0,
    markup: 1.5,
    own_key_fee: 0,
    reservation: 'likely',
    allow_samples: false,
    allow_provider_tools: true,
    required_tags: [],
    requires_user: false,
    credential: { key_id: keyId, scopes },
  });
  for (let runs = 0; runs < 2; runs += 1) await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const { limits, held_cents: held } = (await read()) as {
    limits: Record<string, { current: number }>;
    held_cents: number;
  };
  expect([limits['inflight']?.current, limits['backlog']?.current]).toEqual([1, 1]);
  expect(limits['committed_spend_cents']?.current).toBe(held / 2);
  expect(held).toBeGreaterThan(0);
});

it('shows unlimited credits as null, and no key_id for an access token', async () => {
  const { workspace } = await gateway().caller();
  const headers = await bearer(workspace.id, 'workspace');
  const answer = await fetch(`${gateway().url}/v2/workspace`, { headers });
  const { credits_cents: credits, credential } = (await answer.json()) as Record<string, unknown>;
  expect(credits).toBeNull();
  expect(credential).toStrictEqual({ scopes: ['workspace'] });
});
