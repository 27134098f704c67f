import { describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { tcpProxy } from '../harness/index.js';
import { newRunId } from '../transport/bench.js';
import { until } from '../transport/until.js';
import { faultyBench } from './transport-server.js';

/** Longer than two heartbeats. */
const watchedMs = 14_000;
/** Longer than the time limit of a session. */
const silentMs = 24_000;

describe('signals on Postgres', () => {
  const { bench } = faultyBench('postgres');

  it('keep their session while its server is slow, and replace it when the server is silent', async () => {
    const proxy = await tcpProxy({ port: Number(new URL(bench().url).port) });
    try {
      const worker = await bench().queues();
      const gateway = await bench().queues({}, proxy);
      const runId = newRunId();
      let woken = 0;
      gateway.signals.subscribe(runId, () => (woken += 1));
      // The connection's own reconnection wakes the listener.
      await until(() => woken === 1, 15_000);

      proxy.set('latency', 1_500);
      await pause(watchedMs);
      expect(woken).toBe(1);
      await worker.signals.publish(runId);
      await until(() => woken === 2, 15_000);

      proxy.set('blackhole');
      await pause(silentMs);
      proxy.set('pass');
      await until(() => woken === 3, 15_000);
    } finally {
      await bench().clear();
      await proxy.close();
    }
  });
});
