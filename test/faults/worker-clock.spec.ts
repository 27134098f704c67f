import { afterEach, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, transports, waitFor } from '../harness/index.js';
import { clockFrom } from './clock-off.js';

/** Longer than the slack that the reconciler gives an outbox row. */
const watchedMs = 12_000;

let system: System;
afterEach(() => system.stop());

describe.each(transports())('a worker whose clock goes wrong, on %s', (transport) => {
  it('takes no jobs until its clock is right again', async () => {
    system = await System.start({ transport, workers: 0 });
    const file = path.join(temporaryFolder('clock'), 'offset');
    writeFileSync(file, '+0');
    const worker = await system.startWorker(clockFrom(file));
    const caller = await system.caller();
    const submit = () => caller.submit('bfl/flux-2-pro', '{"prompt":"by a clock"}');
    await caller.completed(await submit());

    const isReady = async () => (await fetch(`${worker.url}/health/ready`)).status === 200;
    writeFileSync(file, '+10m');
    await waitFor(async () => !(await isReady()), {
      withinMs: 60_000,
      what: 'the worker to notice the skew',
    });
    const run = await submit();
    await pause(watchedMs);
    expect((await caller.status(run)).json()['status']).toBe('IN_QUEUE');
    expect((await fetch(`${worker.url}/health/live`)).status).toBe(200);

    writeFileSync(file, '+0');
    await caller.completed(run, 60_000);
    await waitFor(isReady, { withinMs: 10_000, what: 'the worker to be ready' });
    await holdToInvariants(system);
  });

  it('takes no jobs from its start either', async () => {
    system = await System.start({ transport, workers: 0 });
    const file = path.join(temporaryFolder('clock'), 'offset');
    writeFileSync(file, '-10m');
    const worker = await system.spawnWorker(clockFrom(file));
    await worker.listening;
    const caller = await system.caller();
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"by a clock"}');
    await pause(watchedMs);
    expect((await caller.status(run)).json()['status']).toBe('IN_QUEUE');
    writeFileSync(file, '+0');
    await caller.completed(run, 60_000);
    await worker.ready;
    await holdToInvariants(system);
  });
});

failOnLeftovers();
