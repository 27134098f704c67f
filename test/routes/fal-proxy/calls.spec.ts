import { ApiKeyRepository } from '#persistence';
import { expect, it } from '@jest/globals';
import { gatewayForFile, sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const without = gatewayForFile({ COMPAT_CLIENTS: 'none' });
const input = '{"prompt":"x"}';

function call(base: string, key: string, method: string, target: string, body?: string): Promise<Response> {
  const headers = {
    authorization: `Key ${key}`,
    'x-fal-target-url': target,
    'content-type': 'application/json',
  };
  return fetch(`${base}/fal/proxy`, { method, headers, body });
}

const put = (url: string) =>
  fetch(url, { method: 'PUT', body: 'hello', headers: { 'content-type': 'text/plain' } });

it('the proxy is our own queue under fal’s addresses, and finds a run by its id alone', async () => {
  const { caller } = await gateway().caller();
  const proxy = (...rest: [string, string, string?]) => call(gateway().url, caller.key, ...rest);
  const submitted = await proxy('POST', 'https://queue.fal.run/fal-ai/flux/dev', input);
  const { request_id: requestId } = (await submitted.json()) as { request_id: string };
  expect([submitted.status, submitted.headers.get('x-fal-request-id')]).toEqual([201, requestId]);
  const run = `https://queue.fal.run/fal-ai/flux/requests/${requestId}`;
  const status = await proxy('GET', `${run}/status?logs=1`);
  expect(await status.json()).toMatchObject({
    request_id: requestId,
    status: 'IN_QUEUE',
    queue_position: 0,
    logs: [],
    metrics: {},
  });
  const early = await proxy('GET', run);
  expect([early.status, early.headers.get('x-service-error-type')]).toEqual([400, 'invalid_input']);
  expect((await proxy('PUT', `${run}/cancel`)).status).toBe(202);
  expect((await proxy('GET', run)).status).toBe(409);
  const elsewhere = await proxy('GET', `https://queue.fal.run/nope/nope/requests/${requestId}/status`);
  expect([elsewhere.status, elsewhere.headers.get('x-service-error-type')]).toEqual([404, 'invalid_input']);
  const own = await caller.status({ model: 'fal/flux-dev', requestId, body: '' });
  expect(own.json()).not.toHaveProperty('logs');

  const stranger = await gateway().caller();
  const foreign = await call(gateway().url, stranger.caller.key, 'GET', `${run}/status`);
  expect([foreign.status, foreign.headers.get('x-service-error-type')]).toEqual([404, 'invalid_input']);
});

it('a path with a text that no header can hold is answered as usual', async () => {
  const url = `${gateway().url}/v2/models/fal/flux-dev/requests/%E2%82%AC/status`;
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(url, { method, headers: { authorization: 'Key x' } });
    const { error_type: bucket } = JSON.parse((await answer.text()) || '{"error_type":"unauthorized"}');
    expect([answer.status, answer.headers.get('x-service-error-type'), bucket]).toEqual([
      401,
      'unauthorized',
      'unauthorized',
    ]);
    expect(answer.headers.get('x-fal-request-id')).toBe(answer.headers.get('x-service-request-id'));
  }
});

it('a run that is begun through the proxy has the tags and the end user of the call', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const submitted = await fetch(`${gateway().url}/fal/proxy`, {
    method: 'POST',
    headers: {
      authorization: `Key ${caller.key}`,
      'x-fal-target-url': 'https://queue.fal.run/fal-ai/flux/dev',
      'content-type': 'application/json',
      'x-service-tags': 'project=alpha',
      'x-service-user': 'u',
    },
    body: input,
  });
  expect(submitted.status).toBe(201);
  const found = await caller.call('GET', '/v2/requests?tag=project=alpha');
  expect(found.json()['data']).toMatchObject([{ tags: { project: 'alpha' }, user: 'u' }]);
});

it('requests differ by their target, not by the proxy’s own address', async () => {
  const { caller } = await gateway().caller();
  const submit = (target: string) =>
    fetch(`${gateway().url}/fal/proxy`, {
      method: 'POST',
      headers: {
        'x-api-key': caller.key,
        'x-fal-target-url': target,
        'content-type': 'application/json',
        'idempotency-key': 'same',
      },
      body: input,
    });
  expect((await submit('https://queue.fal.run/fal-ai/flux/dev')).status).toBe(201);
  expect((await submit('https://queue.fal.run/bfl/flux-2-pro')).status).toBe(409);
});

it.each(['https://169.254.169.254/latest', 'https://fal.run.example.com/fal-ai/flux/dev', 'none'])(
  'the proxy makes no outside call: %s is unknown here',
  async (target) => {
    const { caller } = await gateway().caller();
    const answer = await call(gateway().url, caller.key, 'POST', target, input);
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([404, 'invalid_input']);
  },
);

async function placeFor(credential: string): Promise<{ upload_url: string; file_url: string }> {
  const target = 'https://rest.fal.ai/storage/upload/initiate?storage_type=fal-cdn-v3';
  const given = await call(gateway().url, credential, 'POST', target, '{"file_name":"a.txt"}');
  return (await given.json()) as { upload_url: string; file_url: string };
}

it('an upload is accepted only at the address that the proxy returned', async () => {
  const { caller } = await gateway().caller();
  const { upload_url, file_url } = await placeFor(caller.key);
  expect(new URL(file_url).pathname).toMatch(/\.txt$/);
  expect((await put(`${upload_url}x`)).status).toBe(401);
  expect((await put(upload_url)).status).toBe(200);
  expect((await put(upload_url)).status).toBe(409);
});

it('an upload in parts is refused, and the answer says what to do', async () => {
  const { caller } = await gateway().caller();
  const target = 'https://rest.fal.ai/storage/upload/initiate-multipart?storage_type=fal-cdn-v3';
  const answer = await call(gateway().url, caller.key, 'POST', target, '{"file_name":"a.mp4"}');
  expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([413, 'invalid_input']);
  expect(await answer.text()).toContain('POST /v2/files');
});

it('an upload is rejected after its key was revoked or its workspace disabled', async () => {
  const { caller, keyId } = await gateway().caller();
  const off = await gateway().caller();
  const [place, offPlace] = [await placeFor(caller.key), await placeFor(off.caller.key)];
  await new ApiKeyRepository(gateway().database).revoke(keyId, 'test');
  await gateway().operate((workspaces) => workspaces.change(off.workspace.id, { enabled: false }, 'test'));
  expect((await put(place.upload_url)).status).toBe(401);
  expect((await put(offPlace.upload_url)).status).toBe(403);
});

it('fal’s key scheme works only on v2, and Comfy’s clients get copies of our headers', async () => {
  const { caller } = await gateway().caller();
  const headers = { authorization: `Key ${caller.key}` };
  const answer = await fetch(`${gateway().url}/v2/models/bfl/none`, { headers });
  expect([answer.status, answer.headers.get('x-comfy-error-type')]).toEqual([404, 'model_not_found']);
  expect(answer.headers.get('x-comfy-request-id')).toBe(answer.headers.get('x-service-request-id'));
  expect((await fetch(`${gateway().url}/v1/models`, { headers })).status).toBe(401);
});

it('the proxy can be turned off', async () => {
  const { caller } = await without().caller();
  const answer = await call(without().url, caller.key, 'POST', 'https://fal.run/fal-ai/flux/dev', input);
  expect(answer.status).toBe(404);
  const headers = { authorization: `Key ${caller.key}` };
  const models = await fetch(`${without().url}/v2/models`, { headers });
  expect([models.status, models.headers.has('x-comfy-request-id')]).toEqual([401, false]);
});
