import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createLog } from '#observability';
import { readSettings } from '#schemas';
import { RemoteKeys } from '../../apps/gateway/src/auth/remote-keys.js';
import { authSettings } from '../../apps/gateway/src/auth/settings.js';
import { least } from '../harness/faults.js';

const hourMs = 3_600_000;
const timeoutMs = 5_000;
let key: JWK;
let server: Server;
let answer = (response: ServerResponse) => void response.end(JSON.stringify({ keys: [key] }));

beforeAll(async () => {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  key = { ...(await exportJWK(publicKey)), kid: 'known', alg: 'ES256', use: 'sig' };
  server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

it('the gateway waits once, up to the time limit, for an identity provider that never answers, and then not again', async () => {
  let nowMs = Date.now();
  const remote = new RemoteKeys(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
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
  answer = () => {};
  nowMs += hourMs;
  expect(await tookMs()).toBeGreaterThan(timeoutMs - 100);
  const lowestMs = await least(400, () => {
    nowMs += hourMs;
    return tookMs();
  });
  expect(lowestMs).toBeLessThan(400);
});
