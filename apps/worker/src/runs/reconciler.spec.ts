import { expect, it } from '@jest/globals';
import { createLog, Metrics } from '#observability';
import type { OutboxRepository, OverdueRun } from '#persistence';
import type { RunQueues } from '#queue';
import type { Outcomes } from './outcomes.js';
import { Reconciler } from './reconciler.js';

it('counts a run whose job was lost, but not one that waited in its row without a job', async () => {
  const overdue: OverdueRun[] = [
    { runId: 'lost', provider: 'some', queue: 'poll', waited: false },
    { runId: 'without-a-slot', provider: 'some', queue: 'webhooks', waited: true },
    { runId: 'next-try', provider: 'some', queue: 'webhooks', waited: true },
  ];
  const outbox = {
    promoteAll: async () => [],
    unaffordable: async () => [],
    takeOverdue: async () => overdue.splice(0),
    drift: async () => [],
  };
  const queues = {
    kind: 'redis',
    healthy: async () => true,
    stateOf: async () => 'missing',
  };
  const metrics = new Metrics();
  const log = createLog('worker', 'fatal');
  const enqueued = await new Promise<readonly { runId: string }[]>((resolve) => {
    const reconciler: Reconciler = new Reconciler(
      outbox as unknown as OutboxRepository,
      {
        ...queues,
        passOn: async () => {},
        enqueue: async (runs: readonly { runId: string }[]) => {
          if (runs.length > 0) void reconciler.onModuleDestroy().then(() => resolve(runs));
        },
      } as unknown as RunQueues,
      {} as Outcomes,
      metrics,
      log,
      log,
    );
    reconciler.onApplicationBootstrap();
  });
  expect(enqueued.map(({ runId }) => runId)).toEqual(['lost', 'without-a-slot', 'next-try']);
  const { values } = await metrics.redelivered.get();
  expect(Object.fromEntries(values.map(({ labels, value }) => [labels.queue, value]))).toEqual({
    poll: 1,
    assets: 0,
    webhooks: 0,
  });
});
