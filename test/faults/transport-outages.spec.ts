import { describe, expect, it } from '@jest/globals';
import { least } from '../harness/faults.js';
import { transports } from '../harness/index.js';
import {
  publishUntil,
  enqueueOne,
  shortCommandTimeout,
  newProvider,
  newRunId,
  type QueueApp,
} from '../transport/bench.js';
import { until } from '../transport/until.js';
import { punctually } from './punctually.js';
import { faultyBench } from './transport-server.js';

const PROMPT_MS = 600;
const BACK_MS = 5_000;
const CLOSE_MS = 5_000;

describe.each(transports())('an app whose server goes down, on %s', (kind) => {
  const { bench, server } = faultyBench(kind);

  it('fails fast while the server is down, and consumes within 5 s of its return', async () => {
    const backMs = await least(BACK_MS, async () => {
      const app = await bench().queues(shortCommandTimeout);
      const { provider, handled } = consumed(app);
      const [before, kept, after] = [newRunId(), newRunId(), newRunId()];
      await until(() => enqueueOne(app, provider, before), 15_000);
      await until(() => handled.includes(before), 15_000);
      await until(() => enqueueOne(app, provider, kept, 1_500), 15_000);
      const said = (text: RegExp) => bench().log.lines.filter((line) => text.test(line)).length;
      // A busy server may have been taken for an unreachable one.
      await until(() => said(/ is back/) >= said(/ is unreachable/), 15_000);
      bench().log.lines.length = 0;

      await server().kill();
      for (let n = 0; n < 5; n += 1) await refusedPromptly(app, provider);
      await app.runNow(kept);
      await app.signals.publish(kept);
      expect(await app.queues.healthy()).toBe(false);

      await server().restart();
      const tookMs = await until(async () => {
        await enqueueOne(app, provider, after);
        return handled.includes(after) && handled.includes(kept);
      }, 20_000);
      process.stdout.write(`consuming ${tookMs} ms after the server’s return\n`);
      expect(said(/ is unreachable/)).toBe(1);
      await until(() => said(/ is back/) === 1, 15_000);
      await bench().clear();
      return tookMs;
    });
    expect(backMs).toBeLessThan(BACK_MS);
  });

  it('survives a second outage that begins during the recovery from the first', async () => {
    const app = await bench().queues(shortCommandTimeout);
    const { provider, handled } = consumed(app);
    const backMs = await least(BACK_MS, async () => {
      for (let round = 0; round < 3; round += 1) {
        await server().kill();
        await server().restart();
      }
      return handledAfterMs(app, provider, handled);
    });
    expect(backMs).toBeLessThan(BACK_MS);
  });

  it('starts without the server, and works when it comes', async () => {
    const used = await least(1, async () => {
      await server().kill();
      const startedAtMs = Date.now();
      const [producer, consumer] = await Promise.all([
        bench().queues(shortCommandTimeout),
        bench().queues(shortCommandTimeout),
      ]);
      const startMs = Date.now() - startedAtMs;
      const { provider, handled } = consumed(consumer);
      expect(await enqueueOne(producer, provider, newRunId())).toBe(false);
      expect(await producer.left()).toBeNull();
      await server().restart();
      const backMs = await handledAfterMs(producer, provider, handled);
      await bench().clear();
      return Math.max(startMs / 2_000, backMs / BACK_MS);
    });
    expect(used).toBeLessThan(1);
  });

  it('closes in bounded time while the server is down', async () => {
    const closeMs = await least(CLOSE_MS, async () => {
      const app = await bench().queues(shortCommandTimeout);
      app.consume(newProvider(), async () => ({ kind: 'done' }));
      app.signals.subscribe(newRunId(), () => {});
      await until(() => app.queues.healthy(), 15_000);
      await server().kill();
      try {
        const startedAtMs = Date.now();
        await app.close(500);
        return Date.now() - startedAtMs;
      } finally {
        await server().restart();
      }
    });
    expect(closeMs).toBeLessThan(CLOSE_MS);
  });

  it('fails fast while the server is frozen, closes in bounded time, and recovers', async () => {
    const used = await least(1, async () => {
      const [app, leaver] = await Promise.all([
        bench().queues(shortCommandTimeout),
        bench().queues(shortCommandTimeout),
      ]);
      const { provider, handled } = consumed(app);
      leaver.consume(newProvider(), async () => ({ kind: 'done' }));
      await until(() => app.queues.healthy(), 15_000);
      let closeMs = Infinity;
      server().freeze();
      try {
        for (let n = 0; n < 3; n += 1) await refusedPromptly(app, provider);
        expect(await app.queues.healthy()).toBe(false);
        const startedAtMs = Date.now();
        await leaver.close(500);
        closeMs = Date.now() - startedAtMs;
      } finally {
        server().thaw();
      }
      const backMs = await handledAfterMs(app, provider, handled);
      await bench().clear();
      return Math.max(closeMs / CLOSE_MS, backMs / BACK_MS);
    });
    expect(used).toBeLessThan(1);
  });

  it('wakes listeners again after the server was down', async () => {
    const [worker, gateway] = await Promise.all([bench().queues(), bench().queues()]);
    const runId = newRunId();
    let woken = 0;
    gateway.signals.subscribe(runId, () => (woken += 1));
    await publishUntil(worker, runId, () => woken > 0, 15_000);
    const backMs = await least(5_000, async () => {
      await server().kill();
      await worker.signals.publish(runId);
      // A waiter that registers while the server is down is served after its return too.
      const late = newRunId();
      let lateWoken = 0;
      gateway.signals.subscribe(late, () => (lateWoken += 1));
      const before = woken;
      await server().restart();
      // No signal is published here: the reconnection itself wakes listeners.
      const tookMs = await until(() => woken > before && lateWoken > 0, 20_000);
      const seen = lateWoken;
      await publishUntil(worker, late, () => lateWoken > seen, 15_000);
      return tookMs;
    });
    expect(backMs).toBeLessThan(5_000);
  });
});

function consumed(app: QueueApp) {
  const provider = newProvider();
  const handled: string[] = [];
  app.consume(provider, async (runId) => {
    handled.push(runId);
    return { kind: 'done' };
  });
  return { provider, handled };
}

async function refusedPromptly(app: QueueApp, provider: string): Promise<void> {
  const refused = async () => expect(await enqueueOne(app, provider, newRunId())).toBe(false);
  expect(await punctually(refused)).toBeLessThan(PROMPT_MS);
}

/** Milliseconds until a run that is enqueued now has been handled. */
async function handledAfterMs(app: QueueApp, provider: string, handled: string[]): Promise<number> {
  const runId = newRunId();
  return until(async () => {
    await enqueueOne(app, provider, runId);
    return handled.includes(runId);
  }, 20_000);
}
