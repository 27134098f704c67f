import { every, type Log, LOG, Metrics, type PeriodicWork } from '#observability';
import { DatabaseOutage, OutboxRepository, type OverdueRun } from '#persistence';
import { RunQueues } from '#queue';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Outcomes } from './outcomes.js';

const everyMs = 1_000;
const batchSize = 500;
/** Maximum number of batches per round, so that repair does not slow down a system that is behind. */
const maxBatches = 4;
const driftEveryMs = 30_000;

/**
 * Enqueues runs again whose job was lost: their outbox row is overdue and they have no job. Every worker does
 * rounds, and each row is taken by one of them at a time. While Redis is down nothing is taken, so that
 * overdue rows are enqueued as soon as it is back. Without Redis there are no jobs to lose, and `DueRuns`
 * takes the rows.
 */
@Injectable()
export class Reconciler implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;
  private driftDueAtMs = 0;

  constructor(
    private readonly outbox: OutboxRepository,
    private readonly queues: RunQueues,
    private readonly outcomes: Outcomes,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    for (const queue of ['poll', 'assets', 'webhooks']) metrics.redelivered.inc({ queue }, 0);
  }

  onApplicationBootstrap(): void {
    this.rounds = every(everyMs, () => this.round(), {
      onError: (error) => this.outage.warn({ error }, 'a round of the reconciler failed, retrying'),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds?.stop();
  }

  private async round(): Promise<void> {
    if (await this.queues.healthy()) await this.reconcile();
    await this.measure();
  }

  private async reconcile(): Promise<void> {
    await this.queues.passOn(await this.outbox.promoteAll());
    for (const run of await this.outbox.unaffordable(batchSize)) await this.outcomes.endUnaffordable(run);
    if (this.queues.kind === 'redis') await this.putBack();
  }

  private async putBack(): Promise<void> {
    for (let batch = 1; batch <= maxBatches; batch += 1) {
      const overdue = await this.outbox.takeOverdue(batchSize);
      const missing = await Promise.all(overdue.map((run) => this.isMissing(run)));
      const lost = overdue.filter((_run, index) => missing[index]);
      await this.queues.enqueue(lost);
      for (const { queue, waited } of lost) if (!waited) this.metrics.redelivered.inc({ queue });
      if (overdue.length < batchSize) return;
    }
  }

  /**
   * Runs a job now that is still delayed although its row is overdue. Jobs that wait for a worker may stay.
   */
  private async isMissing({ queue, runId }: OverdueRun): Promise<boolean> {
    const state = await this.queues.stateOf(queue, runId);
    if (state === 'delayed') await this.queues.runNow(queue, runId);
    return state === 'missing';
  }

  private async measure(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.driftDueAtMs) return;
    this.driftDueAtMs = nowMs + driftEveryMs;
    const drift = await this.outbox.drift();
    this.metrics.counterDrift.inc(drift.length);
    if (drift.length > 0) this.log.error({ drift }, 'counters differ from the runs they count');
  }
}
