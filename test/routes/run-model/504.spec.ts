import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../harness/index.js';
import { gatewayForFile } from '../gateway-for-file.js';
import { bearer, generations } from '../generations.js';

const gateway = gatewayForFile({ SYNC_DEADLINE_MS: '1500' });

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
    const answering = caller.call('POST', path, {
      body: '{"prompt":"x"}',
      headers: { ...(await bearer(workspace.id)), 'idempotency-key': 'k' },
    });
    const requestId = await waitFor(
      async () => {
        const [row] = await gateway().database.read<{ id: string }>(
          { name: 'test_run_of', text: 'SELECT id FROM run WHERE workspace_id = $1' },
          [workspace.id],
        );
        return row?.id;
      },
      { withinMs: 1_000, what: 'the run' },
    );
    await gateway().dispatch({ requestId, model: 'bfl/flux-2-pro', body: '' });
    const answer = await answering;
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([504, 'deadline_exceeded']);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});
