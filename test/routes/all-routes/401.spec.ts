import { ApiKeyRepository } from '#persistence';
import { beforeAll, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { jwtSecret, sharedGateway } from '../gateways.js';
import { routerRoutes } from '../generations.js';

const gateway = sharedGateway('small');
const routes = routerRoutes.filter(([, path]) => path.startsWith('/v2/'));

let token: string;
let key: string;
let workspaceId: string;
beforeAll(async () => {
  const { caller, workspace } = await gateway().caller();
  workspaceId = workspace.id;
  key = caller.key;
  token = await signed();
});

async function signed(
  claims: Record<string, unknown> = {},
  {
    secret = jwtSecret,
    alg = 'HS256',
    issuer = 'model-router',
    audience = 'model-router',
    expires = '5m',
  } = {},
): Promise<string> {
  return new SignJWT({ workspace: workspaceId, scope: 'catalog run', sub: 'tester', ...claims })
    .setProtectedHeader({ alg })
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(secret));
}

/** The status of a call with exactly these credentials. */
async function status(headers: Record<string, string>, [method, path] = routes[0] ?? ['GET', '/v2/models']) {
  const nobody = new Caller(() => [gateway().url], '');
  const answer = await nobody.call(method, path, {
    headers,
    ...(method === 'POST' && { body: '{"prompt":"x"}' }),
  });
  return [answer.status, answer.bucket, answer.bytes.toString()];
}

const refused = [
  401,
  'unauthorized',
  '{"detail":"The request carries no usable credential.","error_type":"unauthorized"}',
];

// Caller always sends x-api-key, so a call without it has to be made differently.
async function bare(headers: Record<string, string>, method: string, path: string) {
  const response = await fetch(`${gateway().url}${path}`, { method, headers });
  return [response.status, response.headers.get('x-service-error-type'), await response.text()];
}

it('a key as X-API-Key, a key as Bearer, and an access token are accepted', async () => {
  expect((await bare({ 'x-api-key': key }, 'GET', '/v2/models'))[0]).toBe(200);
  expect((await bare({ authorization: `Bearer ${key}` }, 'GET', '/v2/models'))[0]).toBe(200);
  expect((await bare({ authorization: `bearer ${token}` }, 'GET', '/v2/models'))[0]).toBe(200);
});

it('a bad X-API-Key is rejected even beside a good Bearer', async () => {
  const authorization = `Bearer ${token}`;
  expect(await status({ 'x-api-key': 'wrong', authorization })).toEqual(refused);
  expect(await status({ 'x-api-key': '', authorization })).toEqual(refused);
  expect((await status({ 'x-api-key': key, authorization: 'Bearer wrong' }))[0]).toBe(200);
});

it('an access token is not accepted as X-API-Key, even after it was verified', async () => {
  await bare({ authorization: `Bearer ${token}` }, 'GET', '/v2/models');
  expect(await status({ 'x-api-key': token })).toEqual(refused);
});

it.each([
  ['another scheme', async () => `Basic ${key}`],
  [
    'a token signed with another secret',
    async () => `Bearer ${await signed({}, { secret: 'x'.repeat(40) })}`,
  ],
  ['another algorithm', async () => `Bearer ${await signed({}, { alg: 'HS512' })}`],
  ['an unsigned token', async () => `Bearer ${unsigned()}`],
  ['another issuer', async () => `Bearer ${await signed({}, { issuer: 'somebody' })}`],
  ['another audience', async () => `Bearer ${await signed({}, { audience: 'somebody' })}`],
  ['an expired token', async () => `Bearer ${await signed({}, { expires: '-2m' })}`],
  ['a token without workspace', async () => `Bearer ${await signed({ workspace: undefined })}`],
  ['a workspace that is not an id', async () => `Bearer ${await signed({ workspace: 'demo' })}`],
  [
    'an unknown workspace',
    async () => `Bearer ${await signed({ workspace: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234' })}`,
  ],
  ['a well-formed token that is too long', async () => `Bearer ${await signed({ pad: 'x'.repeat(5000) })}`],
])('rejects %s', async (_what, authorization) => {
  expect(await bare({ authorization: await authorization() }, 'GET', '/v2/models')).toEqual(refused);
});

it('a revoked key is rejected on every route once its cache entry has expired', async () => {
  const { caller, keyId } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  expect((await caller.status(run)).status).toBe(200);
  await new ApiKeyRepository(gateway().database).revoke(keyId, 'test');
  await waitFor(async () => (await caller.status(run)).status === 401, {
    withinMs: 60_000,
    what: 'the key to be rejected',
  });
  for (const route of routes) expect(await status({ 'x-api-key': caller.key }, route)).toEqual(refused);
  for (const answer of [await caller.collect(run), await caller.cancel(run)]) {
    expect([answer.status, answer.bucket]).toEqual([401, 'unauthorized']);
  }
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function unsigned(): string {
  const expires = Math.floor(Date.now() / 1000) + 60;
  const claims = { workspace: workspaceId, scope: 'run', sub: 'x', iss: 'model-router', aud: 'model-router' };
  return `${part({ alg: 'none' })}.${part({ ...claims, exp: expires })}.`;
}
