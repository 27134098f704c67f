import { describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { least } from '../harness/faults.js';
import { tcpProxy, transports } from '../harness/index.js';
import { enqueueAll, enqueueOne, newProvider, newRunId, type QueueApp } from '../transport/bench.js';
import { until } from '../transport/until.js';
import { startConsumerProcess } from './consumer-process.js';
import { faultyBench } from './transport-server.js';

const shortLock = { QUEUE_LOCK_MS: '2000', QUEUE_STALLED_MS: '60000' };

describe.each(transports())('a consumer that stops, on %s', (kind) => {
  const { bench, server } = faultyBench(kind);

  it('closes at once with 50 delayed jobs, which another worker takes', async () => {
    const tookMs = await least(2_000, async () => {
      const [leaver, stayer] = await Promise.all([bench().queues(), bench().queues()]);
      const provider = newProvider();
      const begun = new Set<string>();
      leaver.consume(
        provider,
        async (runId) => {
          begun.add(runId);
          return { kind: 'retry', delayMs: 2_000 };
        },
        50,
      );
      await until(() => leaver.queues.healthy(), 15_000);
      const runIds = Array.from({ length: 50 }, newRunId);
      await enqueueAll(
        leaver,
        runIds.map((runId) => ({ queue: 'webhooks', provider, runId, delayMs: 0 })),
      );
      await until(() => begun.size === 50, 20_000);
      const startedAtMs = Date.now();
      await leaver.close(5_000);
      const closeMs = Date.now() - startedAtMs;
      const taken = new Set<string>();
      stayer.consume(provider, async (runId) => {
        taken.add(runId);
        return { kind: 'done' };
      });
      await until(() => taken.size === 50, 20_000);
      await bench().clear();
      return closeMs;
    });
    process.stdout.write(`close with 50 delayed jobs: ${tookMs} ms\n`);
    expect(tookMs).toBeLessThan(2_000);
  });

  it('gives a running handler its grace period and lets it finish', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    let state = 'not begun';
    app.consume(provider, async (_runId, signal) => {
      state = 'begun';
      await new Promise((resolve) => setTimeout(resolve, 500));
      state = signal.aborted ? 'aborted' : 'finished';
      return { kind: 'done' };
    });
    await until(() => enqueueOne(app, provider, newRunId()), 15_000);
    await until(() => state === 'begun', 15_000);
    await app.close(15_000);
    expect(state).toBe('finished');
  });

  it('aborts a handler after the grace period, and another worker gets the run at once', async () => {
    const closeMs = await least(2_500, async () => {
      const [leaver, stayer] = await Promise.all([bench().queues(), bench().queues()]);
      const { provider, runId } = await heldUp(leaver, (signal) => signal.throwIfAborted());
      const startedAtMs = Date.now();
      await leaver.close(300);
      const tookMs = Date.now() - startedAtMs;
      let taken = '';
      stayer.consume(provider, async (id) => {
        taken = id;
        return { kind: 'done' };
      });
      await until(() => taken === runId, 15_000);
      await bench().clear();
      return tookMs;
    });
    expect(closeMs).toBeLessThan(2_500);
    expect(bench().log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('aborts the signal when the lock is lost', async () => {
    const abortedMs = await least(4_000, async () => {
      let reason = '';
      await heldUp(await bench().queues(shortLock), (signal) => (reason = String(signal.reason)));
      await bench().wipe();
      const tookMs = await until(() => reason !== '', 15_000);
      expect(reason).toMatch(/^(lock|lease) lost$/);
      await bench().clear();
      return tookMs;
    });
    expect(abortedMs).toBeLessThan(4_000);
  });

  it('aborts the signal by its own timer when the server stops answering', async () => {
    const abortedMs = await least(4_000, async () => {
      let aborted = false;
      await heldUp(await bench().queues(shortLock), () => (aborted = true));
      server().freeze();
      try {
        return await until(() => aborted, 15_000);
      } finally {
        server().thaw();
        await bench().clear();
      }
    });
    expect(abortedMs).toBeLessThan(4_000);
  });

  it('does not report that its server is back if it stops while the server is down', async () => {
    const proxy = await tcpProxy({ port: Number(new URL(bench().url).port) });
    try {
      const { lines } = bench().log;
      const app = await bench().queues({}, proxy);
      await until(() => enqueueOne(app, newProvider(), newRunId()), 15_000);
      const said = lines.length;
      proxy.set('reset');
      await until(async () => {
        await app.signals.publish(newRunId());
        return lines.slice(said).some((line) => line.includes('is unreachable'));
      }, 15_000);
      await app.close();
      await pause(500);
      expect(lines.slice(said).filter((line) => line.includes('is back'))).toEqual([]);
    } finally {
      await proxy.close();
      await bench().clear();
    }
  });

  it('reports that a handler’s process may have died, and forgets it once a handler returns', async () => {
    // Only a death lets a lock lapse, not a slow process.
    const quick = { QUEUE_LOCK_MS: '3000', QUEUE_STALLED_MS: '300' };
    const app = await bench().queues(quick);
    const provider = newProvider();
    const runId = newRunId();
    await until(() => enqueueOne(app, provider, runId), 15_000);
    for (let times = 0; times < 2; times += 1) {
      const victim = await startConsumerProcess(bench().environment(quick), provider);
      try {
        await until(() => victim.begun().includes(runId), 20_000);
      } finally {
        await victim.kill();
      }
    }
    const told: boolean[] = [];
    app.consume(provider, async (_runId, _signal, mayHaveCrashed) => {
      told.push(mayHaveCrashed);
      return told.length < 2 ? { kind: 'retry', delayMs: 0 } : { kind: 'done' };
    });
    await until(() => told.length === 2, 20_000);
    expect(told).toEqual([true, false]);
  });

  it('redelivers the run of a killed worker within 20 s by default settings', async () => {
    const tookMs = await least(20_000, async () => {
      const app = await bench().queues();
      const provider = newProvider();
      const runId = newRunId();
      const victim = await startConsumerProcess(bench().environment(), provider);
      try {
        await until(() => enqueueOne(app, provider, runId), 15_000);
        await until(() => victim.begun().includes(runId), 15_000);
      } finally {
        await victim.kill();
      }
      let taken = '';
      app.consume(provider, async (id) => {
        taken = id;
        return { kind: 'done' };
      });
      const redeliveredMs = await until(() => taken === runId, 40_000);
      process.stdout.write(`redelivered ${redeliveredMs} ms after kill -9\n`);
      await bench().clear();
      return redeliveredMs;
    });
    expect(tookMs).toBeLessThanOrEqual(20_000);
  });
});

/**
 * Delivers one run whose handler returns only when its signal is aborted, and waits until the handler has begun.
 */
async function heldUp(app: QueueApp, aborted: (signal: AbortSignal) => unknown) {
  const provider = newProvider();
  const runId = newRunId();
  let begun = false;
  app.consume(provider, async (_runId, signal) => {
    begun = true;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    aborted(signal);
    return { kind: 'done' };
  });
  await until(() => enqueueOne(app, provider, runId), 15_000);
  await until(() => begun, 15_000);
  return { provider, runId };
}
