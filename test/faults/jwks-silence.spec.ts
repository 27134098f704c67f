import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair } from 'jose';
import { createLog } from '#observability';
import { readSettings } from '#schemas';
import { RemoteKeys } from '../../apps/gateway/src/auth/remote-keys.js';
import { authSettings } from '../../apps/gateway/src/auth/settings.js';
import { least } from '../harness/faults.js';
import { json, ScriptedServer } from '../harness/index.js';

const hourMs = 3_600_000;
const timeoutMs = 5_000;
let server: ScriptedServer;

beforeAll(async () => {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: 'known', alg: 'ES256', use: 'sig' };
  server = await ScriptedServer.start(json({ keys: [key] }));
});
afterAll(() => server.stop());

it('the gateway waits once, up to the time limit, for an identity provider that never answers, and then not again', async () => {
  let nowMs = Date.now();
  const remote = new RemoteKeys(
    `${server.url}/jwks`,
    readSettings(authSettings, {}),
    createLog('gateway', 'fatal'),
    () => nowMs,
  );
  const tookMs = async () => {
    const startedMs = performance.now();
    const found = await remote.find({ alg: 'ES256', kid: 'known' }, { payload: '', signature: '' });
    expect(found).toMatchObject({ type: 'public' });
    return performance.now() - startedMs;
  };
  await tookMs();
  server.paths.set('/jwks', () => {});
  nowMs += hourMs;
  expect(await tookMs()).toBeGreaterThan(timeoutMs - 100);
  const lowestMs = await least(400, () => {
    nowMs += hourMs;
    return tookMs();
  });
  expect(lowestMs).toBeLessThan(400);
});
