import { ApiKeyRepository } from '#persistence';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

describe.each(transports())('on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({ transport, gateways: 2 });
  });
  afterAll(() => system.stop());

  const statuses = (key: string) =>
    Promise.all(
      system.gateways.map(
        async ({ url }) => (await new Caller(() => [url], key).call('GET', '/v2/models')).status,
      ),
    );

  it('a revoked key stops working within two seconds, and so does a key of a disabled workspace', async () => {
    await system.operate(async (workspaces) => {
      const { id, name } = await workspaces.create(`revoked-${process.pid}`, {});
      const keys = new ApiKeyRepository(system.store);
      const facts = { name: 'test', scopes: ['catalog'], expiresAt: null };
      const [first, second] = [
        await keys.create(id, facts, { actor: 'test' }),
        await keys.create(id, facts, { actor: 'test' }),
      ];
      // The key is in the cache now.
      expect(await statuses(first.key)).toEqual([200, 200]);
      expect(await statuses(second.key)).toEqual([200, 200]);

      await keys.revoke(first.row.id, 'test');
      const revokedMs = performance.now();
      await waitFor(async () => (await statuses(first.key)).every((status) => status === 401), {
        withinMs: 2_000,
        what: 'the key to be rejected',
      });
      process.stderr.write(`rejected ${Math.round(performance.now() - revokedMs)} ms after it was revoked\n`);
      expect(await statuses(second.key)).toEqual([200, 200]);

      await workspaces.change(name, { enabled: false }, 'test');
      await waitFor(async () => (await statuses(second.key)).every((status) => status === 403), {
        withinMs: 2_000,
        what: 'the workspace to be rejected',
      });
    });
  });
});

failOnLeftovers();
