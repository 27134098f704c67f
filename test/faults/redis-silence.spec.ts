import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { type App, holdToInvariants, System, type TestServer } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, type TcpProxy, tcpProxy, waitFor } from '../harness/index.js';
import { expectSuccess, roomy, submitMany } from './crowd.js';
import { callsMade } from './metrics.js';
import { onRedis } from './redis-side.js';

const model = 'bfl/flux-2-pro';
/** Shorter than the silence after which a socket is replaced, which would otherwise end the handlers. */
const lockMs = 5_000;
const polls = 10;
/** A client replaces its socket after this much silence. */
const longestSilenceMs = 10_000;

describe.each(onRedis())('the connection from one worker to %s is silent', () => {
  let system: System;
  let caller: Awaited<ReturnType<System['caller']>>;
  let way: TcpProxy;
  let cutOff: App;
  let other: App;

  beforeAll(async () => {
    const env = { QUEUE_LOCK_MS: String(lockMs), QUEUE_STALLED_MS: '500' };
    system = await System.start({ transport: 'redis', gateways: 1, workers: 0, env });
    caller = await system.caller(roomy);
    way = await tcpProxy({ port: (system.redis as TestServer).port });
    cutOff = await system.startWorker({
      REDIS_URL: `redis://${way.address}`,
      // Its polls are in flight for as long as the other worker takes to start.
      PROVIDER_POLL_TIMEOUT_MS: '60000',
    });
  });
  afterAll(async () => {
    await system.stop();
    await way.close();
  });

  it('its handlers are aborted when their locks lapse, another worker takes over, and each run has one outcome', async () => {
    // The first poll of each run is never answered, so that this worker handles all of them.
    const runs = await submitMany(caller, model, polls, '[[sim:hang_poll=1]] [[sim:takes=500]]');
    await waitFor(async () => (await pollsSeen()) === polls, {
      withinMs: 30_000,
      what: 'all polls in flight',
    });
    other = await system.startWorker();
    way.set('blackhole');
    const silentAtMs = performance.now();
    await waitFor(async () => (await callsMade(cutOff, 'resume', 'ambiguous')) === polls, {
      withinMs: lockMs + 2_000,
      what: 'the handlers to be aborted',
    });
    process.stdout.write(`aborted ${Math.round(performance.now() - silentAtMs)} ms into the silence\n`);
    await expectSuccess(system, runs, 40_000);
    process.stdout.write(
      `taken over and done ${Math.round(performance.now() - silentAtMs)} ms into the silence\n`,
    );
    expect(await callsMade(other, 'resume', '2xx')).toBeGreaterThanOrEqual(polls);
    expect(await callsMade(cutOff, 'resume', '2xx')).toBe(0);

    // Longer than a socket may stay silent, so that the client reconnects by itself.
    const meanwhile: Submitted[] = [];
    while (performance.now() < silentAtMs + longestSilenceMs + 1_000) {
      meanwhile.push(...(await submitMany(caller, model, 1, `${meanwhile.length} meanwhile`)));
      await pause(250);
    }
    await expectSuccess(system, meanwhile, 40_000);
    way.set('pass');
    await system.kill(other);
    await expectSuccess(system, await submitMany(caller, model, polls, 'afterwards'), 40_000);
    await holdToInvariants(system);
  });

  async function pollsSeen(): Promise<number> {
    const seen = await system.provider.ledger();
    return seen.filter((entry) => entry.pollCount > 0).length;
  }
});

failOnLeftovers();
