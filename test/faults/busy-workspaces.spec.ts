import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { passFiveAtOnce } from '../runs/busy-workspaces.js';

describe.each(transports().slice(0, 1))('two workspaces that keep two workers busy, on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({
      transport,
      gateways: 2,
      workers: 2,
      env: { PROVIDER_POLL_PAUSE_MS: '100' },
    });
  });
  afterAll(() => system.stop());

  it('each have at most five of their 200 runs at the provider, in the order of admission', async () => {
    await Promise.all([passFiveAtOnce(system, 200), passFiveAtOnce(system, 200)]);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
