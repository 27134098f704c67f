import { expect, it } from '@jest/globals';
import { least, tcpProxy } from '../harness/index.js';
import { type Bench, newRunId } from './bench.js';
import { until } from './until.js';

export function signalCases(bench: () => Bench): void {
  it('wakes every listener of the run in every process, and nobody else', async () => {
    const [worker, first, second] = await Promise.all([
      bench().transport(),
      bench().transport(),
      bench().transport(),
    ]);
    const [runId, other] = [newRunId(), newRunId()];
    const woken = { first: 0, twin: 0, second: 0, other: 0 };
    first.listen(runId, () => (woken.first += 1));
    const leave = first.listen(runId, () => (woken.twin += 1));
    second.listen(runId, () => (woken.second += 1));
    second.listen(other, () => (woken.other += 1));
    // Repeated until both processes have subscribed: the first ones may come before that.
    await until(async () => {
      await worker.announce(runId);
      return woken.first > 0 && woken.second > 0 && woken.twin > 0;
    }, 15_000);

    const before = { ...woken };
    leave();
    await worker.announce(runId);
    await until(() => woken.first > before.first && woken.second > before.second, 15_000);
    expect(woken.twin).toBe(before.twin);
    expect(woken.other).toBeLessThanOrEqual(1);
  });

  it('hears what is announced from the wake-up of its connection on', async () => {
    const proxy = await tcpProxy({ port: Number(new URL(bench().server.url).port) });
    try {
      // What the announcer sends overtakes what the listener sends.
      proxy.set('latency', 100);
      const worker = await bench().transport();
      await until(() => worker.healthy(), 15_000);
      const gateway = await bench().transport({}, proxy);
      const runId = newRunId();
      let woken = 0;
      gateway.listen(runId, () => {
        woken += 1;
        if (woken === 1) void worker.announce(runId);
      });
      await until(() => woken === 2, 15_000);
    } finally {
      await bench().clear();
      await proxy.close();
    }
  });

  it('is quick', async () => {
    const [worker, gateway] = await Promise.all([bench().transport(), bench().transport()]);
    const runId = newRunId();
    let woken = 0;
    gateway.listen(runId, () => (woken += 1));
    await until(async () => {
      await worker.announce(runId);
      return woken > 0;
    }, 15_000);
    const medianMs = await least(100, async () => {
      const tookMs: number[] = [];
      for (let n = 0; n < 50; n += 1) {
        const seen = woken;
        const startedAtMs = performance.now();
        const arrived = new Promise<void>((resolve) => {
          const leave = gateway.listen(runId, () => {
            leave();
            resolve();
          });
        });
        await worker.announce(runId);
        await arrived;
        tookMs.push(performance.now() - startedAtMs);
        expect(woken).toBeGreaterThan(seen);
      }
      tookMs.sort((a, b) => a - b);
      process.stdout.write(`wake-up: p50 ${tookMs[25]?.toFixed(1)} ms, p98 ${tookMs[49]?.toFixed(1)} ms\n`);
      return tookMs[25] ?? Infinity;
    });
    expect(medianMs).toBeLessThan(100);
  });

  it('wakes listeners again after the server was away', async () => {
    const [worker, gateway] = await Promise.all([bench().transport(), bench().transport()]);
    const runId = newRunId();
    let woken = 0;
    gateway.listen(runId, () => (woken += 1));
    await until(async () => {
      await worker.announce(runId);
      return woken > 0;
    }, 15_000);
    const backMs = await least(5_000, async () => {
      await bench().server.kill();
      await worker.announce(runId);
      // A waiter that comes while the server is away is served after its return too.
      const late = newRunId();
      let lateWoken = 0;
      gateway.listen(late, () => (lateWoken += 1));
      const before = woken;
      await bench().server.restart();
      // Nobody announces here: coming back is a reason to look.
      const tookMs = await until(() => woken > before && lateWoken > 0, 20_000);
      const seen = lateWoken;
      await until(async () => {
        await worker.announce(late);
        return lateWoken > seen;
      }, 15_000);
      return tookMs;
    });
    expect(backMs).toBeLessThan(5_000);
  });
}
