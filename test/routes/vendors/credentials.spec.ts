import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile, sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { anthropic, gemini, vendorSides } from './vendor-calls.js';

const gateway = sharedGateway();
const ours = 'https://app.example.com';
const open = gatewayForFile({ CORS_ALLOWED_ORIGINS: ours, LOG_LEVEL: 'debug' });

it.each(vendorSides)('$base accepts its own header, X-Api-Key and access tokens', async (vendor) => {
  const { caller, workspace } = await gateway().caller();
  for (const headers of [
    vendor.credential(caller.key),
    { 'x-api-key': caller.key },
    { authorization: `Bearer ${caller.key}` },
    await bearer(workspace.id, 'catalog'),
  ]) {
    const response = await fetch(`${gateway().url}${vendor.base}/models`, { headers });
    expect(response.status).toBe(200);
  }
});

it.each(vendorSides)('$base needs the scope of what is called', async (vendor) => {
  const { caller } = await gateway().caller({}, ['catalog']);
  const { path, body } = vendor.call(vendor.model);
  const headers = { ...vendor.credential(caller.key), 'content-type': 'application/json' };
  const response = await fetch(`${gateway().url}${path}`, { method: 'POST', headers, body });
  expect([response.status, vendor.textOf((await response.json()) as never)]).toEqual([
    403,
    'This credential lacks the scope "run".',
  ]);
});

it('a key in the query of a Gemini call is in no log, and not in the run', async () => {
  const { caller, workspace } = await open().caller();
  const { path, body } = gemini.call(gemini.model);
  const call = (key: string) =>
    fetch(`${open().url}${path}?key=${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      body,
    });
  const refused = await call('rk_live_wrong_in_query');
  expect(refused.status).toBe(401);
  const answering = call(caller.key);
  const run = await open().admittedRun(workspace);
  await open().finish(run, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{"done":true}'),
  });
  const answer = await answering;
  expect([answer.status, answer.headers.get('x-service-run-id')]).toEqual([200, run.requestId]);
  // The fingerprint of the request does not include the key.
  const { path: same } = gemini.call(gemini.model);
  const retry = await fetch(`${open().url}${same}`, {
    method: 'POST',
    headers: {
      ...gemini.credential(caller.key),
      'content-type': 'application/json',
      'idempotency-key': 'k',
    },
    body,
  });
  expect([retry.status, retry.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  await waitFor(
    async () =>
      open()
        .logs()
        .includes(answer.headers.get('x-service-request-id') ?? ''),
    {
      withinMs: 30_000,
      what: 'the line of the call',
    },
  );
  const [stored] = await open().database.reads.query<{ text: string }>(
    `SELECT run::text || string_agg(audit_record::text, '') AS text
       FROM run JOIN audit_record ON audit_record.run_id = run.id WHERE run.id = $1 GROUP BY run.id`,
    [run.requestId],
  );
  for (const text of [open().logs(), stored?.text ?? caller.key]) {
    expect(text).not.toContain(caller.key);
    expect(text).not.toContain('wrong_in_query');
  }
  expect(stored?.text).toContain('POST /gemini/v1beta/models/{model}:generateContent');
});

it('clients find the id of the call in the header of their vendor', async () => {
  for (const [path, name] of [
    ['/openai/v1/models', 'x-request-id'],
    ['/anthropic/v1/models', 'request-id'],
  ] as const) {
    const { headers } = await fetch(`${gateway().url}${path}`);
    expect(headers.get(name)).toBe(headers.get('x-service-request-id'));
  }
});

it('pages of an allowed origin may call, and read what clients read', async () => {
  const { path } = anthropic.call(anthropic.model);
  const asked = await fetch(`${open().url}${path}`, {
    method: 'OPTIONS',
    headers: { origin: ours, 'access-control-request-method': 'POST' },
  });
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, ours]);
  const answer = await fetch(`${open().url}${path}`, { method: 'POST', headers: { origin: ours } });
  expect(answer.status).toBe(401);
  const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
  expect(exposed).toEqual(expect.arrayContaining(['X-Should-Retry', 'request-id', 'X-Service-Run-Id']));
  const other = await fetch(`${open().url}${path}`, {
    method: 'OPTIONS',
    headers: { origin: 'https://other.example.com', 'access-control-request-method': 'POST' },
  });
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([404, null]);
});
