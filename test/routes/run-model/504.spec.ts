import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway('small');

describe.each(generations)('504 on %s', (generation) => {
  const path = `/${generation}/models/bfl/flux-2-pro`;

  it('has no Retry-After for a run that never reached its provider', async () => {
    const { caller, workspace } = await gateway().caller();
    const answer = await caller.call('POST', path, {
      body: '{"prompt":"x"}',
      headers: await bearer(workspace.id),
    });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([504, 'deadline_exceeded']);
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('has a Retry-After of the pause between polls once the run is submitted, until a retry collects it', async () => {
    const { caller, workspace } = await gateway().caller();
    const headers = { ...(await bearer(workspace.id)), 'idempotency-key': 'k' };
    const call = () => caller.call('POST', path, { body: '{"prompt":"x"}', headers });
    const held = async () => {
      const answer = await call();
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([504, 'deadline_exceeded']);
      return [answer.headers.get('retry-after'), answer.headers.get('idempotent-replayed')];
    };
    expect(await held()).toEqual([null, null]);
    const run = await gateway().admittedRun(workspace);
    const claimed = await gateway().dispatch(run);
    expect(await held()).toEqual(['1', 'true']);
    await gateway().end(claimed, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: Buffer.from('{"late":true}'),
    });
    const collected = await call();
    expect([collected.status, collected.bytes.toString()]).toEqual([200, '{"late":true}']);
    expect(collected.headers.get('idempotent-replayed')).toBe('true');
  });
});
