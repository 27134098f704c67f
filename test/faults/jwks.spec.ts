import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, type JWK, SignJWT } from 'jose';
import { json, ScriptedServer, waitFor } from '../harness/index.js';
import { gatewayForFile } from '../routes/gateways.js';

const keys: JWK[] = [];
const provide = (port?: number) => ScriptedServer.start((...call) => json({ keys })(...call), port);
let provider = await provide();
const { port } = provider;

const maxAgeSeconds = 1;
const cooldownSeconds = 2;
const gateway = gatewayForFile({
  JWT_SECRET: '',
  JWT_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
  JWT_JWKS_MAX_AGE_SECONDS: String(maxAgeSeconds),
  JWT_JWKS_COOLDOWN_SECONDS: String(cooldownSeconds),
  AUTH_CACHE_MS: '1',
});

let workspaceId: string;
let known: GenerateKeyPairResult;
beforeAll(async () => {
  known = await generateKeyPair('ES256', { extractable: true });
  keys.push({ ...(await exportJWK(known.publicKey)), kid: 'known' });
  workspaceId = (await gateway().caller()).workspace.id;
});
afterAll(() => provider.stop());

async function status(kid: string, pair = known): Promise<number> {
  const token = await new SignJWT({ workspace: workspaceId, scope: 'catalog', sub: 'tester' })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setJti(String(process.hrtime.bigint()))
    .setIssuer('model-router')
    .setAudience('model-router')
    .setExpirationTime('5m')
    .sign(pair.privateKey);
  const response = await fetch(`${gateway().url}/v1/models?limit=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(30_000),
  });
  await response.arrayBuffer();
  return response.status;
}

/** This test has to wait for time to pass: the keys must age, and the cooldown must end. */
const age = () => pause((Math.max(maxAgeSeconds, cooldownSeconds) + 0.1) * 1000);

it('known keys keep verifying while the identity provider is down, and new keys are found afterwards', async () => {
  expect(await status('known')).toBe(200);
  await provider.stop();
  for (let ages = 0; ages < 3; ages += 1) {
    await age();
    expect(await status('known')).toBe(200);
    expect(await status('unknown')).toBe(401);
  }
  const next = await generateKeyPair('ES256', { extractable: true });
  keys.splice(0, 1, { ...(await exportJWK(next.publicKey)), kid: 'next' });
  provider = await provide(port);
  await waitFor(async () => (await status('next', next)) === 200, {
    withinMs: cooldownSeconds * 1000 + 20_000,
    what: 'the new key to be accepted',
  });
  expect(await status('known')).toBe(401);
  keys.splice(0, 1, { ...(await exportJWK(known.publicKey)), kid: 'known' });
});

it('thousands of random key ids cause at most one fetch per cooldown', async () => {
  await waitFor(async () => (await status('known')) === 200, {
    withinMs: 20_000,
    what: 'the known key to be accepted',
  });
  // A fetch that is in flight now would be counted, but its cooldown would not.
  await age();
  const before = provider.calls.length;
  const startedMs = performance.now();
  for (let nth = 0; nth < 3_000; nth += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_none, index) => status(`${nth + index}`)));
    expect(new Set(answers)).toEqual(new Set([401]));
  }
  const cooldowns = (performance.now() - startedMs) / (cooldownSeconds * 1000);
  expect(provider.calls.length - before).toBeLessThanOrEqual(Math.ceil(cooldowns));
  expect(await status('known')).toBe(200);
});
