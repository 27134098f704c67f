import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { holdToInvariants, System } from '../harness/faults.js';
import { eitherTransport, failOnLeftovers, temporaryFolder, waitFor } from '../harness/index.js';

describe.each(eitherTransport())('a key file that no reader understands, on %s', (transport) => {
  const keys = temporaryFolder('keys');
  const give = (text: string) => writeFileSync(path.join(keys, 'bfl'), text);
  let system: System;

  beforeAll(async () => {
    give('main=the-good-key');
    system = await System.start({ transport, env: { PROVIDER_KEYS_DIR: keys, CATALOG_POLL_MS: '200' } });
  });
  afterAll(() => system.stop());

  const refused = async () => {
    const texts = await Promise.all(
      system.apps.map(async (app) => (await fetch(`${app.internalUrl}/metrics`)).text()),
    );
    return texts.some((text) => /^router_catalog_refused\{?.*\}? 1$/m.test(text));
  };

  it.each(['main = the-good-key\nspare = another', 'main=the-good-key\nspare=ключ', 'main=\n'])(
    'leaves the keys as they are, and says so: %j',
    async (text) => {
      give(text);
      await waitFor(refused, { withinMs: 30_000, what: 'the metric of a refused reading', everyMs: 100 });
      expect(system.apps.some((app) => /PROVIDER_BFL_KEY: line [12]/.test(app.logs()))).toBe(true);
      const caller = await system.caller();
      const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"with the key before"}');
      await caller.completed(run);
      expect((await caller.collect(run)).status).toBe(200);
      give('main=the-good-key');
      await waitFor(async () => !(await refused()), {
        withinMs: 30_000,
        what: 'a good reading',
        everyMs: 100,
      });
    },
  );

  it('loses no run', async () => {
    await holdToInvariants(system, 30_000);
  });
});

failOnLeftovers();
