import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway();

it.each(generations)(
  '%s answers with the provider’s own bytes and media type, without a wrapper',
  async (generation) => {
    const { caller, workspace } = await gateway().caller();
    const answering = caller.call('POST', `/${generation}/models/bfl/flux-2-pro`, {
      body: '{"prompt":"x"}',
      headers: await bearer(workspace.id),
    });
    const run = await gateway().admittedRun(workspace);
    const body = Buffer.from('{ "status":"Ready",\n "result" : {"seed":12345678901234567890, "z":1.0} }');
    await gateway().finish(run, {
      outcome: 'succeeded',
      mediaType: 'application/json; charset=utf-8',
      body,
    });
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-service-error-type')).toBeNull();
    expect(answer.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.bytes.equals(body)).toBe(true);
  },
);
