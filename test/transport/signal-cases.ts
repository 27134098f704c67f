import { expect, it } from '@jest/globals';
import { tcpProxy } from '../harness/index.js';
import { announceUntil, type Bench, newRunId } from './bench.js';
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
    await announceUntil(worker, runId, () => woken.first > 0 && woken.second > 0 && woken.twin > 0, 60_000);

    const before = { ...woken };
    leave();
    await worker.announce(runId);
    await until(() => woken.first > before.first && woken.second > before.second, 60_000);
    expect(woken.twin).toBe(before.twin);
    expect(woken.other).toBeLessThanOrEqual(1);
  });

  it('hears what is announced from the wake-up of its connection on', async () => {
    const proxy = await tcpProxy({ port: Number(new URL(bench().url).port) });
    try {
      // What the announcer sends overtakes what the listener sends.
      proxy.set('latency', 100);
      const worker = await bench().transport();
      await until(() => worker.healthy(), 60_000);
      const gateway = await bench().transport({}, proxy);
      const runId = newRunId();
      let woken = 0;
      gateway.listen(runId, () => {
        woken += 1;
        if (woken === 1) void worker.announce(runId);
      });
      await until(() => woken === 2, 60_000);
    } finally {
      await bench().clear();
      await proxy.close();
    }
  });
}
