import { expect, it } from '@jest/globals';
import { tcpProxy } from '../harness/index.js';
import { publishUntil, type Bench, newRunId } from './bench.js';
import { until } from './until.js';

export function signalCases(bench: () => Bench): void {
  it('wakes every listener of the run in every process, and no other', async () => {
    const [worker, first, second] = await Promise.all([bench().queues(), bench().queues(), bench().queues()]);
    const [runId, other] = [newRunId(), newRunId()];
    const woken = { first: 0, twin: 0, second: 0, other: 0 };
    first.signals.subscribe(runId, () => (woken.first += 1));
    const leave = first.signals.subscribe(runId, () => (woken.twin += 1));
    second.signals.subscribe(runId, () => (woken.second += 1));
    second.signals.subscribe(other, () => (woken.other += 1));
    await publishUntil(worker, runId, () => woken.first > 0 && woken.second > 0 && woken.twin > 0, 60_000);

    const before = { ...woken };
    leave();
    await worker.signals.publish(runId);
    await until(() => woken.first > before.first && woken.second > before.second, 60_000);
    expect(woken.twin).toBe(before.twin);
    expect(woken.other).toBeLessThanOrEqual(1);
  });

  it('wakes a listener that leaves and returns at once', async () => {
    const [worker, gateway] = await Promise.all([bench().queues(), bench().queues()]);
    const runId = newRunId();
    let woken = 0;
    const listen = () => gateway.signals.subscribe(runId, () => (woken += 1));
    const leave = listen();
    await publishUntil(worker, runId, () => woken > 0, 60_000);
    leave();
    listen();
    // The unsubscription has been sent by then.
    await new Promise(setImmediate);
    const before = woken;
    await publishUntil(worker, runId, () => woken > before, 60_000);
  });

  it('gets every signal that is published after its connection’s wake-up', async () => {
    const proxy = await tcpProxy({ port: Number(new URL(bench().url).port) });
    try {
      // Signals of the publisher overtake the listener's commands.
      proxy.set('latency', 100);
      const worker = await bench().queues();
      await until(() => worker.queues.healthy(), 60_000);
      const gateway = await bench().queues({}, proxy);
      const runId = newRunId();
      let woken = 0;
      gateway.signals.subscribe(runId, () => {
        woken += 1;
        if (woken === 1) void worker.signals.publish(runId);
      });
      await until(() => woken === 2, 60_000);
    } finally {
      await bench().clear();
      await proxy.close();
    }
  });
}
