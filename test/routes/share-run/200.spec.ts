import type { Ending } from '#persistence';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests', 'manage'];
const model = 'bfl/flux-2-pro';
const html = Buffer.from('<script>parent.hit = 1</script>');
const succeeded: Ending = { outcome: 'succeeded', mediaType: 'text/html', body: html };

/** A run, and its link. */
async function shared() {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"shared"}', {
    headers: { 'x-service-tags': 'project=secret', 'x-service-user': 'somebody' },
  });
  await gateway().finish(run, succeeded);
  const share = (method: 'PUT' | 'DELETE' = 'PUT', by: Caller = caller) =>
    by.call(method, `/v2/requests/${run.requestId}/share`);
  const made = await share();
  expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const { url, token } = made.json() as { url: string; token: string };
  return { caller, run, share, url, token };
}

const open = async (token: string, path = '') => {
  const answer = await fetch(`${gateway().url}/v2/shared/${token}${path}`, {
    signal: AbortSignal.timeout(30_000),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const paths = ['', '/input', '/output'];
const statuses = async (token: string) =>
  Promise.all(paths.map(async (path) => (await open(token, path)).status));

it('shows the run to anyone with the link: its input, its output, and neither cost nor caller', async () => {
  const { caller, run, share, url, token } = await shared();
  expect(url).toBe(`${gateway().url}/console/shared/${token}`);
  expect((await share()).json()).toEqual({ url, token });
  const facts = await open(token);
  expect(JSON.parse(facts.text)).toEqual({
    model,
    title: expect.any(String),
    output_modalities: ['image'],
    created_at: expect.any(String),
    duration_ms: expect.any(Number),
    expires_at: expect.any(String),
  });
  expect((await open(token, '/input')).text).toBe(run.body);
  const output = await open(token, '/output');
  expect([output.text, output.headers.get('x-service-cost-cents')]).toEqual([html.toString(), null]);
  const listed = (await caller.call('GET', '/v2/requests?shared=true')).json()['data'];
  expect(listed).toMatchObject([{ request_id: run.requestId, shared: true }]);
});

it('never lets a browser run what a provider sent as a page of this origin', async () => {
  const { headers } = await open((await shared()).token, '/output');
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(headers.get('content-disposition')).toBe('attachment');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

it('ends when the link is revoked, for good', async () => {
  const { caller, share, token } = await shared();
  expect(await statuses(token)).toEqual([200, 200, 200]);
  for (let times = 0; times < 2; times += 1) expect((await share('DELETE')).status).toBe(204);
  expect(await statuses(token)).toEqual([404, 404, 404]);
  expect((await caller.call('GET', '/v2/requests?shared=true')).json()['data']).toEqual([]);
  expect((await share()).json()['token']).not.toBe(token);
  expect(await statuses(token)).toEqual([404, 404, 404]);
});

it('ends when the data of the run is deleted', async () => {
  const { caller, run, share, token } = await shared();
  expect((await caller.call('DELETE', `/v2/requests/${run.requestId}`)).status).toBe(204);
  expect(await statuses(token)).toEqual([404, 404, 404]);
  expect((await share()).status).toBe(410);
  expect((await caller.call('GET', '/v2/requests?shared=true')).json()['data']).toEqual([]);
});

it('shares nothing of a live or failed run, or of another workspace, and opens no forged link', async () => {
  const { run, share, token } = await shared();
  const { caller: stranger } = await gateway().caller({}, scopes);
  expect((await share('PUT', stranger)).status).toBe(404);
  expect((await share('DELETE', stranger)).status).toBe(404);
  expect(await statuses(token)).toEqual([200, 200, 200]);
  for (const forged of [run.requestId, `${token.slice(0, -1)}_`, 'x'])
    expect(await statuses(forged)).toEqual([404, 404, 404]);
  const live = await stranger.submit(model, '{"prompt":"live"}');
  expect((await stranger.call('PUT', `/v2/requests/${live.requestId}/share`)).status).toBe(409);
  await gateway().finish(live, {
    outcome: 'failed',
    bucket: 'provider_error',
    status: 502,
    detail: 'x',
    billable: false,
  });
  expect((await stranger.call('PUT', `/v2/requests/${live.requestId}/share`)).status).toBe(409);
});
