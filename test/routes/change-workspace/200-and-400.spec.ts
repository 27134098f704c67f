import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('changes what is given, records who did it, and concerns the next run', async () => {
  const { caller, workspace, keyId } = await gateway().caller({}, ['run', 'workspace', 'manage']);
  const change = { allow_samples: true, required_tags: ['team'] };
  const changed = await caller.call('PATCH', '/v2/workspace', { body: JSON.stringify(change) });
  expect(changed.status).toBe(200);
  expect(changed.json()).toMatchObject({ ...change, requires_user: false });
  expect(changed.json()).toEqual((await caller.call('GET', '/v2/workspace')).json());

  const run = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([run.status, run.bucket]).toEqual([400, 'invalid_input']);

  const [recorded] = await gateway().database.reads.query<{ actor: string; details: object }>(
    `SELECT actor, details FROM operator_action WHERE action = 'workspace.change' AND subject = $1`,
    [workspace.name],
  );
  expect(recorded).toEqual({
    actor: expect.stringContaining(keyId),
    details: { allowSamples: true, requiredTags: ['team'] },
  });

  const undone = await caller.call('PATCH', '/v2/workspace', { body: '{"required_tags":[]}' });
  expect(undone.json()).toMatchObject({ allow_samples: true, required_tags: [] });
});

it.each([
  ['another member', '{"markup":0}'],
  ['limits', '{"limits":{"inflight":1000}}'],
  ['credits', '{"credits_cents":1000000}'],
  ['another type', '{"allow_samples":"yes"}'],
  ['a tag that no run can have', '{"required_tags":["a b"]}'],
  ['too many tags', JSON.stringify({ required_tags: Array.from({ length: 99 }, (_, index) => `t${index}`) })],
])('%s is rejected, and nothing changes', async (_what, body) => {
  const { caller } = await gateway().caller({}, ['workspace', 'manage']);
  const before = (await caller.call('GET', '/v2/workspace')).json();
  const answer = await caller.call('PATCH', '/v2/workspace', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect((await caller.call('GET', '/v2/workspace')).json()).toEqual(before);
});

it('only the workspace itself allows samples', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const path = `/v2/operator/workspaces/${workspace.name}`;
  const answer = await caller.call('PATCH', path, { body: '{"allow_samples":true}' });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
