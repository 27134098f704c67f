import type { Log, Metrics } from '#observability';
import type { OutboxRepository } from '#persistence';
import { dispatchNow, type Transport } from '#queue';

const batch = 500;
const driftEveryMs = 30_000;

/**
 * Puts back what the transport lost. Every worker sweeps; a row is taken by one of them at a time. While the
 * transport is away nothing is taken, so that overdue rows go out as soon as it returns.
 */
export class Sweep {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private driftDueAtMs = 0;

  constructor(
    private readonly deliveries: OutboxRepository,
    private readonly transport: Transport,
    private readonly everyMs: number,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {
    for (const lane of ['dispatch', 'poll', 'assets']) metrics.redelivered.inc({ lane }, 0);
  }

  start(): void {
    this.timer = setTimeout(() => void this.round(), this.everyMs);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async round(): Promise<void> {
    try {
      if (await this.transport.healthy()) await this.redeliver();
      await this.measure();
    } catch (error) {
      this.log.warn({ error }, 'sweep failed, sweeping again');
    }
    if (!this.stopped) this.start();
  }

  private async redeliver(): Promise<void> {
    await this.transport.deliver(dispatchNow(await this.deliveries.promoteAll()));
    for (;;) {
      const overdue = await this.deliveries.takeOverdue(batch);
      await this.transport.deliver(overdue.map(({ queue, ...run }) => ({ ...run, lane: queue, afterMs: 0 })));
      for (const { queue } of overdue) this.metrics.redelivered.inc({ lane: queue });
      // A job that was put off for too long is still there, and its delivery changed nothing.
      await Promise.all(overdue.map((each) => this.transport.hasten(each.queue, each.provider, each.runId)));
      if (overdue.length < batch) return;
    }
  }

  private async measure(): Promise<void> {
    this.metrics.oldestOverdueSeconds.set(await this.deliveries.oldestOverdueSeconds());
    const nowMs = performance.now();
    if (nowMs < this.driftDueAtMs) return;
    this.driftDueAtMs = nowMs + driftEveryMs;
    const drift = await this.deliveries.drift();
    this.metrics.counterDrift.inc(drift.length);
    if (drift.length > 0) this.log.error({ drift }, 'counters differ from the runs they count');
  }
}
