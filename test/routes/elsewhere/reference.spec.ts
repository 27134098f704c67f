import { scopes } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { buckets } from '#errors';
import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { SignJWT } from 'jose';
import { sharedGateway, jwtSecret } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';
const nobodys = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const input = '{"prompt":"x"}';
const isJson = { 'content-type': 'application/json' };

interface Response {
  headers: Record<string, { $ref: string }>;
  content?: Record<string, { schema?: { $ref: string } }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { headers: Record<string, { required: boolean }> };
}

let document: Document;
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
let keyed: Record<string, string>;
let tokened: Record<string, string>;
let requestId: string;
let fileId: string;
let keyId: string;
beforeAll(async () => {
  document = (await (await get('/openapi.json')).json()) as Document;
  ajv.addSchema(document, 'document');
  const { caller, workspace, keyId: ownKeyId } = await gateway().caller({}, [...scopes]);
  keyId = ownKeyId;
  keyed = { 'x-api-key': caller.key };
  const query = `?webhook_url=${encodeURIComponent('https://hooks.example.com/a')}`;
  requestId = (await caller.submit(model, input, { query })).requestId;
  fileId = String((await caller.call('POST', '/v2/files', { body: 'x' })).json()['id']);
  const token = await new SignJWT({ workspace: workspace.id, scope: 'catalog run', sub: 'tester' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('model-router')
    .setAudience('model-router')
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(jwtSecret));
  tokened = { authorization: `Bearer ${token}` };
});

const get = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway().url}${path}`, { ...init, signal: AbortSignal.timeout(30_000) });

describe('GET /openapi.json', () => {
  it('documents only routes that are called below', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const called = calls.map(([method, path]) => `${method} ${templateOf(path)}`);
    expect(documented.sort()).toEqual([...new Set(called)].sort());
  });

  it('is public, readable from other origins, and cached by its tag', async () => {
    const answer = await get('/openapi.json');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const bytes = Buffer.from(await answer.arrayBuffer());
    const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
    expect(answer.headers.get('etag')).toBe(etag);
    const again = await get('/openapi.json', { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    expect(document.openapi).toBe('3.1.0');
  });
});

describe('GET /llms.txt', () => {
  it('names every route of the document except those of v1, and every bucket', async () => {
    const text = await (await get('/llms.txt')).text();
    const named = [...text.matchAll(/^- `([A-Z]+) (\S+)`: /gm)].map(
      ([, method, path]) => `${method} ${path}`,
    );
    const documented = Object.entries(document.paths)
      .filter(([path]) => !path.startsWith('/v1/'))
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
      );
    expect(named.sort()).toEqual(documented.sort());
    expect(Object.keys(buckets).filter((bucket) => !text.includes(`- \`${bucket}\` (`))).toEqual([]);
    expect(text).toContain(`${gateway().url}/openapi.json`);
  });

  it('opens with a call that runs a model', async () => {
    const text = await (await get('/llms.txt')).text();
    const [, url = '', body = ''] = /curl -sS "(\S+)"[^]*?-d '([^']+)'/.exec(text) ?? [];
    expect(text.indexOf(url)).toBeLessThan(text.indexOf('## Models'));
    const answer = await fetch(`${url}/requests`, { method: 'POST', headers: { ...keyed, ...isJson }, body });
    expect([answer.status, url]).toEqual([201, `${gateway().url}/v2/models/${model}`]);
  });

  it('leads to the models by task, and from there to each model', async () => {
    const text = await (await get('/llms.txt')).text();
    const [, list = ''] = /\[Models for edit\]\((\S+)\)/.exec(text) ?? [];
    const models = await (await fetch(list, { headers: keyed })).text();
    const [, address = ''] = /^- \[FLUX\.2 Pro\]\((\S+)\): \S+/m.exec(models) ?? [];
    const one = await (await fetch(address, { headers: keyed })).text();
    expect(one).toMatch(/^# bfl\/flux-2-pro\n\n> FLUX\.2 Pro: /);
    for (const part of ['- Price: $0.03', '- `prompt`: required string', '`content_policy_violation`'])
      expect(one).toContain(part);
  });
});

// In sequence, because some calls depend on the run of an earlier one.
const calls: [
  method: string,
  path: string,
  status: number,
  by: 'key' | 'token' | 'nobody',
  init?: RequestInit,
][] = [
  ['GET', '/v1/models?limit=2', 200, 'token'],
  ['GET', '/v1/models?limit=x', 400, 'token'],
  ['GET', '/v1/models', 401, 'nobody'],
  ['GET', `/v1/models/${model}`, 200, 'token'],
  ['GET', '/v1/models/bfl/none', 404, 'token'],
  ['GET', `/v1/models/${model}/openapi.json`, 200, 'token'],
  ['POST', `/v1/models/${model}`, 422, 'token', { body: '{"prompt":1}' }],
  ['GET', '/v2/models', 200, 'key'],
  ['GET', `/v2/models/${model}`, 200, 'key'],
  ['GET', `/v2/models/${model}/openapi.json`, 304, 'key', { headers: { 'if-none-match': '*' } }],
  ['POST', `/v2/models/${model}`, 415, 'key', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['POST', `/v2/models/${model}/requests`, 201, 'key', { body: input }],
  ['POST', `/v2/models/${model}/requests`, 400, 'key', { body: '[' }],
  ['POST', `/v2/models/${model}/requests`, 422, 'key', { body: '{}' }],
  ['POST', `/v2/models/${model}/cost`, 200, 'key', { body: input }],
  ['POST', `/v2/models/${model}/cost`, 422, 'key', { body: '{}' }],
  ['GET', `/v2/models/${model}/requests/{request_id}/status`, 200, 'key'],
  ['GET', `/v2/models/${model}/requests/${nobodys}/status`, 404, 'key'],
  ['GET', `/v2/models/${model}/requests/${nobodys}/status/stream`, 404, 'key'],
  ['GET', `/v2/models/${model}/requests/{request_id}`, 202, 'key'],
  ['PUT', `/v2/models/${model}/requests/{request_id}/cancel`, 202, 'key'],
  ['PUT', `/v2/models/${model}/requests/{request_id}/cancel`, 400, 'key'],
  ['GET', `/v2/models/${model}/requests/{request_id}`, 409, 'key'],
  ['POST', '/v2/files', 201, 'key', { body: 'x' }],
  ['POST', '/v2/files', 400, 'key'],
  ['GET', '/v2/files', 200, 'key'],
  ['GET', '/v2/files?cursor=x', 400, 'key'],
  ['GET', '/v2/files/{file_id}', 200, 'key'],
  ['DELETE', '/v2/files/{file_id}', 204, 'key'],
  ['GET', '/v2/files/{file_id}', 404, 'key'],
  ['GET', '/v2/requests', 200, 'key'],
  ['GET', '/v2/requests?status=x', 400, 'key'],
  ['GET', '/v2/requests/{request_id}', 200, 'key'],
  ['GET', `/v2/requests/${nobodys}`, 404, 'key'],
  ['GET', '/v2/requests/{request_id}/input', 200, 'key'],
  ['GET', `/v2/requests/${nobodys}/input`, 404, 'key'],
  ['DELETE', `/v2/requests/${nobodys}`, 404, 'key'],
  ['PUT', `/v2/requests/${nobodys}/kept`, 404, 'key'],
  ['DELETE', `/v2/requests/${nobodys}/kept`, 404, 'key'],
  ['PUT', '/v2/requests/{request_id}/share', 409, 'key'],
  ['DELETE', '/v2/requests/{request_id}/share', 204, 'key'],
  ['GET', `/v2/models/${model}/samples`, 200, 'key'],
  ['PUT', `/v2/operator/samples/${nobodys}`, 404, 'key'],
  ['DELETE', `/v2/operator/samples/${nobodys}`, 404, 'key'],
  ['GET', '/v2/shared/x', 404, 'nobody'],
  ['GET', '/v2/shared/x/input', 404, 'nobody'],
  ['GET', '/v2/shared/x/output', 404, 'nobody'],
  ['GET', '/v2/webhooks/deliveries', 200, 'key'],
  ['GET', '/v2/webhooks/deliveries?state=x', 400, 'key'],
  ['POST', '/v2/webhooks/deliveries/{request_id}/redeliver', 202, 'key'],
  ['POST', `/v2/webhooks/deliveries/${nobodys}/redeliver`, 404, 'key'],
  ['GET', '/v2/webhooks/deliveries/{request_id}', 200, 'key'],
  ['GET', `/v2/webhooks/deliveries/${nobodys}`, 404, 'key'],
  ['POST', '/v2/webhooks/test', 202, 'key', { body: '{"url":"https://hooks.example.com/test"}' }],
  ['POST', '/v2/webhooks/test', 400, 'key', { body: '{}' }],
  ['GET', '/v2/usage?group_by=day,model,key', 200, 'key'],
  ['GET', '/v2/usage?group_by=x', 400, 'key'],
  ['GET', '/v2/refusals', 200, 'key'],
  ['GET', '/v2/refusals?cursor=x', 400, 'key'],
  ['GET', '/v2/ledger', 200, 'key'],
  ['GET', '/v2/ledger?format=csv', 200, 'key'],
  ['GET', '/v2/ledger?cursor=x', 400, 'key'],
  ['GET', '/v2/workspace', 200, 'key'],
  ['PATCH', '/v2/workspace', 200, 'key', { body: '{"requires_user":false}' }],
  ['PATCH', '/v2/workspace', 400, 'key', { body: '{"markup":0}' }],
  ['GET', '/v2/webhooks/secret', 200, 'key'],
  ['POST', '/v2/webhooks/secret', 200, 'key'],
  ['POST', '/v2/sign-in/links', 201, 'key'],
  ['POST', '/v2/sign-in/links?scopes=x', 400, 'key'],
  ['POST', '/v2/sign-in', 401, 'key'],
  ['GET', '/v2/sign-in/provider', 200, 'nobody'],
  ['GET', '/v2/sign-in/begin', 404, 'nobody'],
  ['GET', '/v2/sign-in/callback', 404, 'nobody'],
  ['PUT', '/v2/budgets/daily', 200, 'key', { body: '{"window":"day","limit_cents":1000}' }],
  ['PUT', '/v2/budgets/daily', 400, 'key', { body: '{"window":"day","limit_cents":0}' }],
  ['GET', '/v2/budgets', 200, 'key'],
  ['GET', '/v2/budgets/daily', 200, 'key'],
  ['GET', '/v2/budgets/daily/values', 200, 'key'],
  ['GET', '/v2/budgets/daily/values?cursor=x', 400, 'key'],
  ['DELETE', '/v2/budgets/daily', 204, 'key'],
  ['GET', '/v2/budgets/daily', 404, 'key'],
  ['GET', '/v2/keys', 200, 'key'],
  ['GET', '/v2/keys?kind=x', 400, 'key'],
  ['POST', '/v2/keys', 201, 'key', { body: '{"name":"new","scopes":["run"]}' }],
  ['POST', '/v2/keys', 400, 'key', { body: '{"name":"new"}' }],
  ['POST', '/v2/keys', 415, 'key', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['POST', `/v2/keys/${nobodys}/rotate`, 404, 'key'],
  ['POST', `/v2/keys/${nobodys}/rotate?keep_hours=721`, 400, 'key'],
  ['DELETE', `/v2/keys/${nobodys}`, 404, 'key'],
  ['GET', '/v2/provider-keys', 200, 'key'],
  ['GET', '/v2/provider-keys/bfl', 404, 'key'],
  ['PUT', '/v2/provider-keys/bfl', 200, 'key', { body: '{"key":"a-key-of-the-workspace"}' }],
  ['PUT', '/v2/provider-keys/bfl', 400, 'key', { body: '{"key":""}' }],
  ['PUT', '/v2/provider-keys/none', 404, 'key', { body: '{"key":"x"}' }],
  ['GET', '/v2/provider-keys/bfl', 200, 'key'],
  ['DELETE', '/v2/provider-keys/bfl', 204, 'key'],
  ['DELETE', '/v2/provider-keys/bfl', 404, 'key'],
  ['GET', `/v2/models/${model}/requests/{request_id}/status/stream`, 200, 'key'],
  ['GET', '/v2/webhooks/secret', 200, 'key'],
  ['POST', '/v2/webhooks/secret', 200, 'key'],
  ['GET', '/v2/operator/workspaces?limit=5', 200, 'key'],
  ['GET', '/v2/operator/workspaces?cursor=x', 400, 'key'],
  ['GET', '/v2/operator/workspaces/nobody', 404, 'key'],
  ['PATCH', '/v2/operator/workspaces/nobody', 404, 'key', { body: '{}' }],
  ['POST', '/v2/operator/workspaces', 201, 'key', { body: '{"name":"reference"}' }],
  ['POST', '/v2/operator/workspaces', 409, 'key', { body: '{"name":"reference"}' }],
  ['POST', '/v2/operator/workspaces', 400, 'key', { body: '{}' }],
  ['POST', '/v2/operator/workspaces/reference/sign-in-links', 201, 'key', { body: '{}' }],
  ['POST', '/v2/operator/workspaces/reference/sign-in-links', 400, 'key', { body: '[]' }],
  ['POST', '/v2/operator/workspaces/nobody/sign-in-links', 404, 'key', { body: '{}' }],
  ['GET', '/v2/operator/providers', 200, 'key'],
  ['GET', '/v2/operator/providers/bfl', 200, 'key'],
  ['POST', '/v2/operator/providers/wan/check', 200, 'key'],
  ['POST', '/v2/operator/providers/wan/pause', 200, 'key', { body: '{"reason":"x"}' }],
  ['POST', '/v2/operator/providers/wan/pause', 400, 'key', { body: '{}' }],
  ['DELETE', '/v2/operator/providers/wan/pause', 200, 'key'],
  ['GET', '/v2/operator/queues', 200, 'key'],
  ['GET', '/v2/operator/audit', 200, 'key'],
  ['GET', '/v2/operator/audit?cursor=x', 400, 'key'],
  ['POST', '/v2/operator/runs/0198c1a2-0000-7000-8000-000000000001/refund', 404, 'key', { body: '{}' }],
  ['POST', '/v2/operator/runs/0198c1a2-0000-7000-8000-000000000001/refund', 400, 'key', { body: '[]' }],
  ['GET', '/v2/operator/runs', 200, 'key'],
  ['GET', '/v2/operator/runs?state=failed', 200, 'key'],
  ['GET', '/v2/operator/runs?state=x', 400, 'key'],
  ['GET', '/v2/operator/runs/{request_id}', 200, 'key'],
  ['GET', `/v2/operator/runs/${nobodys}`, 404, 'key'],
  ['DELETE', '/v2/requests/{request_id}', 204, 'key'],
  ['GET', '/v2/operator/providers/bfl/attempts', 200, 'key'],
  ['GET', '/nodes', 200, 'nobody'],
  ['GET', '/nodes?limit=x', 400, 'nobody'],
  ['GET', '/health', 200, 'nobody'],
  ['GET', '/health/live', 200, 'nobody'],
  ['GET', '/health/ready', 200, 'nobody'],
  ['GET', '/assets/none?expires=1&signature=x', 404, 'nobody'],
  ['GET', '/openapi.json', 200, 'nobody'],
  ['GET', '/llms.txt', 200, 'nobody'],
  ['GET', '/v2/models/llms.txt?task=edit', 200, 'key'],
  ['GET', '/v2/models/llms.txt?task=none', 400, 'key'],
  ['GET', `/v2/models/${model}/llms.txt`, 200, 'key'],
  ['GET', '/v2/models/bfl/none/llms.txt', 404, 'key'],
  ['GET', '/clients', 200, 'nobody'],
  ['GET', '/clients/model-router-client.tgz', 302, 'nobody', { redirect: 'manual' }],
  ['GET', '/clients/none.tgz', 404, 'nobody'],
  ['GET', `/clients/${'0'.repeat(32)}/model-router-client.tgz`, 404, 'nobody'],
  ['GET', '/v2/clients/model-router-client.tgz', 302, 'key', { redirect: 'manual' }],
  ['GET', '/v2/clients/none.tgz', 404, 'key'],
  ['GET', `/v2/clients/${'0'.repeat(32)}/model-router-client.tgz`, 404, 'key'],
  ['POST', '/mcp', 401, 'nobody', { body: '{}' }],
  ['POST', '/mcp', 415, 'key', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['GET', '/mcp', 405, 'nobody'],
  // The last call that uses the key.
  ['DELETE', '/v2/keys/{key_id}', 204, 'key'],
];

it.each(calls)('%s %s answers %i as documented', async (method, path, status, by, init = {}) => {
  const ids = { '{request_id}': requestId, '{file_id}': fileId, '{key_id}': keyId };
  const named = Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path);
  const answer = await get(named, {
    ...init,
    method,
    headers: {
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
      ...(by === 'key' && keyed),
      ...(by === 'token' && tokened),
      ...(init.headers as Record<string, string> | undefined),
    },
  });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([status, text]);
  const { headers, content = {} } = documented(method, path, status);
  const always = Object.keys(headers).filter((name) => document.components.headers[name]?.required);
  expect(always.filter((name) => !answer.headers.has(name))).toEqual([]);
  const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? 'none';
  expect([...Object.keys(content), 'none']).toContain(mediaType);
  const reference = content[mediaType]?.schema?.$ref;
  if (reference === undefined) return;
  ajv.validate(`document${reference}`, JSON.parse(text));
  expect(ajv.errors ?? []).toEqual([]);
});

function documented(method: string, path: string, status: number): Response {
  const template = templateOf(path);
  const response = document.paths[template]?.[method.toLowerCase()]?.responses[status];
  if (response === undefined) throw new Error(`${method} ${template} does not document ${status}`);
  return response;
}

function templateOf(path: string): string {
  const [template = ''] = Object.keys(document.paths).filter((each) =>
    new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
  );
  return template;
}

describe('GET /docs', () => {
  it('leads to the reference in the console', async () => {
    const answer = await get('/docs', { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/reference']);
  });

  it('fails in the registry’s shape, like every path outside the router', async () => {
    for (const [path, method] of [
      ['/docs', 'POST'],
      ['/docs/', 'GET'],
      ['/openapi.json', 'PUT'],
    ] as const) {
      const answer = await get(path, { method });
      expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([
        404,
        ['error', 'message'],
      ]);
    }
  });
});
