import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/index.js';
import { gatewayForFile } from '../gateways.js';

const cacheMs = 1_000;
const gateway = gatewayForFile({ AUTH_CACHE_MS: String(cacheMs) });

it('answers 401 to a revoked key once its time in the cache is over, on every route', async () => {
  const { caller, keyId } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  expect((await caller.status(run)).status).toBe(200);
  await gateway().operate((workspaces) => workspaces.revokeKey(keyId));
  const revokedMs = performance.now();
  // When the last call set out that was still let in.
  let lastMs = revokedMs;
  const refused = async () => {
    const startedMs = performance.now();
    if ((await caller.status(run)).status === 401) return true;
    lastMs = startedMs;
    return false;
  };
  await waitFor(refused, { withinMs: cacheMs + 20_000, what: 'the end of the key' });
  expect(lastMs - revokedMs).toBeLessThan(cacheMs + 500);
  for (const answer of [await caller.collect(run), await caller.cancel(run)]) {
    expect([answer.status, answer.bucket]).toEqual([401, 'unauthorized']);
  }
});
