import { SETTINGS } from '#infrastructure';
import { Alarm, every, Metrics, type PeriodicWork, settlesWithin, UnderWay } from '#observability';
import { DatabaseOutage, type DueRow, DueRowRepository, providerOf } from '#persistence';
import { queueNames, RunQueues, type RunProcessor, separationMs, type WakeUpListener } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssetsProcessor } from './assets/assets.processor.js';
import { PollProcessor } from './runs/poll.processor.js';
import { repeatableGraceMs, type WorkerSettings } from './settings.js';
import { WebhooksProcessor } from './webhooks/webhooks.processor.js';

/** Interval of the looks that find rows of dead workers and rows whose signal was missed. */
const lookEveryMs = 1_000;
/** How long an aborted handler has to return. */
const settleMs = 1_000;

/** A row that this process has taken, and the controller that aborts the work on it. */
interface Taken {
  row: DueRow;
  abort: AbortController;
  /** The process's own clock counts: a worker learns nothing about its leases if the database is down. */
  leasedUntilMs: number;
}

type Deliverer = Pick<RunProcessor, 'deliver' | 'maxRuns'>;

const leaseLost = 'lease lost';

/**
 * Takes the place of the queues when there is no Redis. It takes the rows of polls, copies and webhooks when
 * they are due and hands them to their processors. A row is leased for `QUEUE_LOCK_MS` while it is processed,
 * and the lease is renewed; if a lease ends, another worker takes the row.
 */
@Injectable()
export class DueRuns implements OnModuleDestroy {
  private readonly processors: Record<DueRow['queue'], Deliverer>;
  private readonly taken = new Map<string, Taken>();
  private readonly inFlight: UnderWay;
  /** Rings when a row that this process put back is due again. */
  private readonly nextDue = new Alarm(() => this.lookNow());
  /** Whether some queue has its maximum of runs. If so, each run that ends triggers another look. */
  private isSaturated = false;
  private isTaking = false;
  private isLooking = false;
  private mustLook = false;
  private listener: WakeUpListener | null | undefined;
  private looks: PeriodicWork | undefined;
  private renewals: PeriodicWork | undefined;
  private expiries: NodeJS.Timeout | undefined;

  constructor(
    private readonly rows: DueRowRepository,
    private readonly queues: RunQueues,
    @Inject(PollProcessor) poll: Deliverer,
    @Inject(AssetsProcessor) assets: Deliverer,
    @Inject(WebhooksProcessor) webhooks: Deliverer,
    private readonly metrics: Metrics,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'QUEUE_LOCK_MS' | 'WORKER_CLOSE_MS'>,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    this.inFlight = new UnderWay(outage);
    this.processors = { poll, assets, webhooks };
  }

  /** Starts or stops taking rows. Rows that were taken before are still processed. */
  takeRuns(isTaking: boolean): void {
    this.isTaking = isTaking;
    if (this.listener !== undefined || !isTaking) return;
    this.listener = this.queues.onDueRow((afterMs) => this.nextDue.set(afterMs));
    if (this.listener === null) return;
    for (const queue of queueNames) {
      this.metrics.stalledJobs.inc({ queue }, 0);
      this.metrics.lostLocks.inc({ queue }, 0);
    }
    this.looks = every(lookEveryMs, () => this.look(), {
      onError: (error) => this.outage.warn({ error }, 'could not take due rows, retrying'),
      immediately: true,
    });
    const { QUEUE_LOCK_MS: leaseMs } = this.settings;
    this.renewals = every(leaseMs / 3, () => this.renew(), {
      onError: (error) => this.outage.warn({ error }, 'could not renew the leases of rows, retrying'),
    });
    this.expiries = setInterval(() => this.abortExpired(), Math.max(50, leaseMs / 20)).unref();
  }

  /** Waits for calls in flight during their grace period, then aborts them and puts their rows back. */
  async onModuleDestroy(): Promise<void> {
    this.isTaking = false;
    await this.listener?.close();
    if (!(await settlesWithin(this.idle(), repeatableGraceMs(this.settings)))) {
      for (const { abort } of this.taken.values()) abort.abort('closing');
      await settlesWithin(this.idle(), settleMs);
    }
    clearInterval(this.expiries);
    await settlesWithin(this.renewals?.stop() ?? Promise.resolve(), settleMs);
  }

  private lookNow(): void {
    this.inFlight.track(this.look(), 'could not take due rows, retrying');
  }

  /** Runs one look at a time. Whatever falls due meanwhile is found by another look afterwards. */
  private async look(): Promise<void> {
    this.mustLook = true;
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      while (this.mustLook && this.isTaking) {
        this.mustLook = false;
        await this.takeDue();
      }
    } finally {
      this.isLooking = false;
    }
  }

  private async takeDue(): Promise<void> {
    const open = queueNames.filter((queue) => this.countOf(queue) < this.processors[queue].maxRuns);
    this.isSaturated = open.length < queueNames.length;
    if (open.length === 0) return;
    const leasedUntilMs = this.leaseEndMs();
    const { rows, isFull } = await this.rows.take(open, this.settings.QUEUE_LOCK_MS);
    for (const row of rows)
      this.inFlight.track(
        this.deliver(row, leasedUntilMs),
        'could not put a row back; it is taken again when its lease ends',
        { run_id: row.runId },
      );
    this.mustLook ||= isFull;
  }

  private countOf(queue: DueRow['queue']): number {
    let count = 0;
    for (const { row } of this.taken.values()) if (row.queue === queue) count += 1;
    return count;
  }

  private async deliver(row: DueRow, leasedUntilMs: number): Promise<void> {
    const { queue, runId, provider, attempts } = row;
    const key = `${queue} ${runId}`;
    // A second delivery of the same run proves that the first one's lease has ended.
    this.taken.get(key)?.abort.abort(leaseLost);
    const taken = { row, abort: new AbortController(), leasedUntilMs };
    const { signal } = taken.abort;
    this.taken.set(key, taken);
    try {
      const mayHaveCrashed = attempts > 1;
      if (mayHaveCrashed) {
        this.metrics.stalledJobs.inc({ queue });
        await sleep(separationMs(attempts - 1), undefined, { signal }).catch(() => {});
      } else this.measure(row);
      const result = signal.aborted
        ? ({ kind: 'retry', delayMs: 0 } as const)
        : await this.processors[queue].deliver({ runId, provider, mayHaveCrashed }, signal);
      if (signal.reason === leaseLost) return this.metrics.lostLocks.inc({ queue });
      if (result.kind === 'done') return;
      await this.rows.putBack(row, result.delayMs);
      this.nextDue.set(result.delayMs);
    } finally {
      if (this.taken.get(key) === taken) this.taken.delete(key);
      if (this.isSaturated) this.lookNow();
    }
  }

  private measure({ queue, provider, lateMs }: DueRow): void {
    this.metrics.queueWaitSeconds.observe({ queue }, lateMs / 1000);
    if (queue === 'poll')
      this.metrics.pollLatenessSeconds.observe({ provider: providerOf(provider) }, lateMs / 1000);
  }

  private async renew(): Promise<void> {
    const { leased } = this;
    if (leased.length === 0) return;
    const leasedUntilMs = this.leaseEndMs();
    const rows = leased.map(({ row }) => row);
    const renewed = new Set(await this.rows.renew(rows, this.settings.QUEUE_LOCK_MS));
    for (const taken of leased) if (renewed.has(taken.row.runId)) taken.leasedUntilMs = leasedUntilMs;
  }

  private abortExpired(): void {
    const nowMs = performance.now();
    for (const { abort, leasedUntilMs } of this.leased) if (leasedUntilMs <= nowMs) abort.abort(leaseLost);
  }

  /** Rows of webhooks are excluded, because each call of a webhook leases its row itself. */
  private get leased(): Taken[] {
    return [...this.taken.values()].filter(({ row }) => row.queue !== 'webhooks');
  }

  private leaseEndMs(): number {
    return performance.now() + this.settings.QUEUE_LOCK_MS;
  }

  /** Resolves when no work is in flight, including rows that a last look has taken. */
  private async idle(): Promise<void> {
    await this.looks?.stop();
    await this.inFlight.ended();
  }
}
