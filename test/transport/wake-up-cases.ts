import { expect, it } from '@jest/globals';
import { type Bench, newProvider } from './bench.js';
import { until } from './until.js';

export function wakeUpCases(bench: () => Bench): void {
  it('reach a worker for each provider, and never a worker that takes no runs', async () => {
    const [gateway, worker, idle] = await Promise.all([bench().queues(), bench().queues(), bench().queues()]);
    const heard = new Set<string>();
    const heardIdle: string[] = [];
    const listeners = [
      worker.queues.onWakeUp((provider) => heard.add(provider)),
      idle.queues.onWakeUp((provider) => heardIdle.push(provider)),
    ];
    worker.consume(newProvider(), async () => ({ kind: 'done' }));
    const [one, other] = [newProvider(), newProvider()];
    try {
      await until(() => {
        gateway.queues.wake(one, other);
        return heard.has(one) && heard.has(other);
      }, 60_000);
      expect(heardIdle).toEqual([]);
    } finally {
      await Promise.all(listeners.map((listener) => listener.close()));
    }
  });
}
