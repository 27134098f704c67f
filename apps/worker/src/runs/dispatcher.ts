import { SETTINGS } from '#infrastructure';
import { Alarm, every, Metrics, type PeriodicWork, settlesWithin, UnderWay } from '#observability';
import {
  DatabaseOutage,
  DispatchRepository,
  isOwnLine,
  providerOf,
  type SweptRun,
  type TakenRun,
} from '#persistence';
import type { BoundProvider } from '#providers';
import { RunQueues, type WakeUpListener } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { poolOf } from '../keys/provider-keys.js';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { Claims } from './claims.js';
import { Outcomes } from './outcomes.js';
import { Submission } from './submission.js';
import { Slots } from '../slots.js';

/** Pause before a suspect is taken again that had to wait for another one. */
const suspectAgainMs = 1_000;
/** Interval of the sweeps, which find runs whose pause has ended or whose wake-up was missed. */
const sweepEveryMs = 1_000;
const maxSwept = 1_000;
/**
 * A worker without a line's key waits this long, so that workers with the key can take the runs first.
 * Then it takes them itself, so that their time budget begins to count.
 */
const keylessMs = 2_000;
/** Maximum number of runs taken at a time. Each comes with up to 256 KiB of input. */
const maxTaken = 16;

/**
 * Takes runs that wait in the lines of their providers, each under one of the line's concurrency slots, and submits
 * them. Runs with a key of their workspace have a line and slots of their own. Runs wait in their outbox rows, without a job, so that thousands of runs can wait cheaply for a
 * provider whose calls hang. Workspaces take turns, and no workspace may use the last quarter of the slots,
 * so that runs of other workspaces need not wait.
 */
@Injectable()
export class Dispatcher implements OnModuleDestroy {
  private readonly slots: Slots;
  /** Maximum number of a line's slots that one workspace may hold in this worker. */
  private readonly maxHeld: number;
  /** Lines whose waiting runs are being taken, and whether to look once more afterwards. */
  private readonly looking = new Map<string, boolean>();
  /** Lines whose runs may still wait for a slot of this worker. */
  private readonly saturated = new Set<string>();
  private readonly inFlight: UnderWay;
  /** Rings when a run that this process postponed is due. Wakes all workers: another may have the key. */
  private readonly postponed = new Alarm(() =>
    this.inFlight.track(
      this.sweep((line) => this.queues.wake(line)),
      'could not sweep the waiting runs, retrying',
    ),
  );
  private isTaking = false;
  private isSweeping = false;
  /** When the database last answered, and since when it has answered without an outage, by its own clock. */
  private answeredAtMs = -Infinity;
  private answeringSinceMs = -Infinity;
  private sweeps: PeriodicWork | undefined;
  private wakeUps: WakeUpListener | undefined;

  constructor(
    private readonly providers: Providers,
    private readonly runs: DispatchRepository,
    private readonly claims: Claims,
    private readonly submission: Submission,
    private readonly outcomes: Outcomes,
    private readonly queues: RunQueues,
    private readonly metrics: Metrics,
    @Inject(SETTINGS)
    private readonly settings: Pick<
      WorkerSettings,
      'WORKER_DISPATCH_CONCURRENCY' | 'CLAIM_LEASE_MS' | 'WORKER_CLOSE_MS' | 'ENCRYPTION_KEYS'
    >,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    this.inFlight = new UnderWay(outage);
    const max = settings.WORKER_DISPATCH_CONCURRENCY;
    this.maxHeld = Math.max(1, Math.min(max - 1, Math.ceil(max * 0.75)));
    this.slots = new Slots({ max, maxOfHolder: this.maxHeld });
    metrics.redelivered.inc({ queue: 'dispatch' }, 0);
    metrics.watchSlots('dispatch', (provider) => this.slots.usage(provider));
  }

  /** Starts or stops taking runs. Submissions in flight continue. */
  takeRuns(isTaking: boolean): void {
    this.isTaking = isTaking;
    if (this.sweeps || !isTaking) return;
    this.wakeUps = this.queues.onWakeUp((line) => this.lookAt(line));
    this.sweeps = every(sweepEveryMs, () => this.sweep(), {
      onError: (error) => this.outage.warn({ error }, 'could not sweep the waiting runs, retrying'),
      immediately: true,
    });
  }

  /** Waits for submissions in flight. Waiting runs stay in their rows for another worker. */
  async onModuleDestroy(): Promise<void> {
    this.isTaking = false;
    await Promise.all([this.wakeUps?.close(), settlesWithin(this.idle(), this.settings.WORKER_CLOSE_MS)]);
  }

  /** Takes runs that wait in the line until it has no free slot. */
  private lookAt(line: string): void {
    if (!this.isTaking) return;
    const isLooking = this.looking.has(line);
    this.looking.set(line, true);
    if (!isLooking) this.inFlight.track(this.look(line), 'could not take waiting runs, retrying');
  }

  /** One look per line at a time, because two at once would both find a workspace below its limit. */
  private async look(line: string): Promise<void> {
    try {
      while (this.looking.get(line) && this.isTaking) {
        this.looking.set(line, false);
        const provider = this.providers.get(providerOf(line));
        // An operator declared this provider and this process has not loaded it yet. A worker that has takes
        // the runs.
        if (provider === undefined) continue;
        const { length: keys } = isOwnLine(line) ? this.settings.ENCRYPTION_KEYS : provider.keys;
        if (keys === 0) await sleep(keylessMs);
        if (this.isTaking) await this.take(line, provider);
      }
    } finally {
      this.looking.delete(line);
    }
  }

  /** Takes at most half of the free slots, so that bursts spread. A full batch wakes another worker. */
  private async take(line: string, provider: BoundProvider): Promise<void> {
    const { maxHeld } = this;
    const limit = Math.min(maxTaken, Math.ceil(this.slots.free(line) / 2));
    // A copy: submissions finish while the statement runs, but it limits workspaces by the slots they held before.
    const held = new Map(this.slots.heldOf(line));
    const leaseMs = this.settings.CLAIM_LEASE_MS;
    const taken =
      limit === 0
        ? []
        : await this.runs.takeRuns(line, {
            held,
            maxHeld,
            most: limit,
            leaseMs,
            pool: isOwnLine(line) ? undefined : poolOf(provider),
          });
    for (const run of taken) {
      held.set(run.workspaceId, (held.get(run.workspaceId) ?? 0) + 1);
      this.inFlight.track(
        this.dispatch(line, provider, run),
        'could not dispatch a run; it is picked up again when its lease ends',
        { run_id: run.runId },
      );
    }
    const limited = [...held].filter(([, slots]) => slots >= maxHeld);
    if (taken.length === limit || limited.length > 0) this.saturated.add(line);
    else this.saturated.delete(line);
    const heldNow = this.slots.heldOf(line);
    if (limited.some(([workspaceId]) => (heldNow.get(workspaceId) ?? 0) < maxHeld))
      this.looking.set(line, true);
    if (limit === 0 || taken.length < limit) return;
    this.looking.set(line, true);
    this.queues.wake(line);
  }

  private async dispatch(line: string, provider: BoundProvider, run: TakenRun): Promise<void> {
    const slot = this.slots.acquire(line, run.workspaceId);
    try {
      if (run.waitedMs !== null)
        this.metrics.queueWaitSeconds.observe({ queue: 'dispatch' }, run.waitedMs / 1000);
      using lease = this.claims.hold(run);
      const submitted =
        lease === null
          ? await this.outcomes.postpone(run, suspectAgainMs)
          : await this.submission.submit(provider, run);
      if (submitted.kind !== 'waits') return;
      if (submitted.afterMs > 0) this.postponed.set(submitted.afterMs);
      else this.lookAt(submitted.line);
    } finally {
      slot?.[Symbol.dispose]();
      if (this.saturated.has(line)) this.lookAt(line);
    }
  }

  private async sweep(found = (line: string): void => this.lookAt(line)): Promise<void> {
    if (!this.isTaking || this.isSweeping) return;
    this.isSweeping = true;
    try {
      for (const run of await this.runs.sweep(
        maxSwept,
        this.settings.CLAIM_LEASE_MS,
        await this.sweepTimes(),
      ))
        this.inFlight.track(this.settle(run), 'could not end a run that the sweep found, retrying', {
          run_id: run.runId,
        });
      for (const line of await this.runs.linesToLookAt()) found(line);
    } finally {
      this.isSweeping = false;
    }
  }

  /**
   * No worker can renew its leases while the database is down, so leases are judged only after two rounds of
   * renewals since it answers again. The same holds after the first answer, because the database may have
   * been down before it.
   */
  private async sweepTimes(): Promise<{ askedAt: Date; judgesFrom: Date }> {
    const askedAt = await this.runs.readClock();
    const leaseMs = this.settings.CLAIM_LEASE_MS;
    if (askedAt.getTime() - this.answeredAtMs > leaseMs / 6 + sweepEveryMs)
      this.answeringSinceMs = askedAt.getTime();
    this.answeredAtMs = askedAt.getTime();
    return { askedAt, judgesFrom: new Date(this.answeringSinceMs + (leaseMs * 2) / 3) };
  }

  private async settle(run: SweptRun): Promise<void> {
    switch (run.kind) {
      case 'lapsed':
        return this.metrics.redelivered.inc({ queue: 'dispatch' });
      case 'abandoned':
        return this.outcomes.giveUp(run);
      case 'spent':
        await this.outcomes.failUnsent(run);
    }
  }

  /** Resolves when no work is in flight, including runs that a last look has taken. */
  private async idle(): Promise<void> {
    await this.sweeps?.stop();
    await this.inFlight.ended();
  }
}
