import { describe, expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = gatewayForFile({ SYNC_DEADLINE_MS: '500' });

describe.each(generations)('504 on %s', (generation) => {
  const path = `/${generation}/models/bfl/flux-2-pro`;

  it('has no Retry-After for a run that never reached its partner', async () => {
    const { caller, workspace } = await gateway().caller();
    const answer = await caller.call('POST', path, {
      body: '{"prompt":"x"}',
      headers: await bearer(workspace.id),
    });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([504, 'deadline_exceeded']);
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('has a Retry-After of the pause between polls while a handle is held', async () => {
    const { caller, workspace } = await gateway().caller();
    const headers = { ...(await bearer(workspace.id)), 'idempotency-key': 'k' };
    const held = async () => {
      const answer = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([504, 'deadline_exceeded']);
      return answer.headers.get('retry-after');
    };
    expect(await held()).toBeNull();
    const [run] = await gateway().database.read<{ id: string }>(
      { name: 'test_run_of', text: 'SELECT id FROM run WHERE workspace_id = $1' },
      [workspace.id],
    );
    await gateway().dispatch({ requestId: run?.id ?? '', model: 'bfl/flux-2-pro', body: '' });
    expect(await held()).toBe('1');
  });
});
