import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, transports, waitFor } from '../harness/index.js';

/** A worker that took runs would have taken one by now. */
const watchedMs = 5_000;

describe.each(transports())('a worker with another asset store on %s', (transport) => {
  let system: System;
  afterEach(() => system.stop());

  it('is not ready, says why, and leaves the runs to a worker with the same store', async () => {
    system = await System.start({ transport, workers: 0 });
    const caller = await system.caller();
    const strayed = await system.spawnWorker({ ASSET_DIR: temporaryFolder('other-store') });
    await strayed.listening;
    const ready = async () => (await fetch(`${strayed.url}/health/ready`)).text();
    await waitFor(async () => (await ready()).startsWith('not ready: '), {
      withinMs: 60_000,
      what: 'the worker to notice the other store',
    });
    expect(await ready()).toMatch(/sees another asset store than the gateway on \S+, which runs longer/);
    expect(await (await fetch(`${strayed.url}/health/live`)).text()).toBe('live\n');
    const run = await caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: 'x'.repeat(300_000) }));
    await pause(watchedMs);
    expect((await caller.status(run)).json()['status']).toBe('IN_QUEUE');
    await system.startWorker();
    await caller.completed(run, 60_000);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
