import { SETTINGS } from '#infrastructure';
import {
  Alarm,
  every,
  type Log,
  LOG,
  Metrics,
  type PeriodicWork,
  settlesWithin,
  UnderWay,
} from '#observability';
import { DispatchRepository, type SweptRun, type TakenRun } from '#persistence';
import type { BoundProvider } from '#providers';
import { RunQueues, Slots, type WakeUpListener } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { Claims } from './claims.js';
import { Outcomes } from './outcomes.js';
import { Submission } from './submission.js';

/** Pause before a suspect that has to wait for another one is taken again. */
const suspectAgainMs = 1_000;
/** Runs of which no wake-up was heard, and those whose pause has ended, are found after this time. */
const sweepEveryMs = 1_000;
const maxSwept = 1_000;
/** A worker without the key leaves runs to those that have it for so long; then it lets their time budget count. */
const keylessMs = 2_000;
/** So many runs, each with an input of 256 KiB at most, are taken at a time. */
const maxTaken = 16;

/**
 * Takes runs that wait for their providers, each under one of the provider's concurrency slots, and has them submitted. They
 * wait in their outbox rows, without a job: a provider whose calls hang costs nothing while thousands of runs wait for it.
 * Slots are given by turns of workspaces, and one of them never gets the last quarter, so that another one's run need not
 * wait.
 */
@Injectable()
export class Dispatcher implements OnModuleDestroy {
  private readonly slots: Slots;
  /** How many slots of a provider a workspace may hold here. */
  private readonly maxHeld: number;
  /** Providers whose line is being looked at, and whether to look once more. */
  private readonly looking = new Map<string, boolean>();
  /** Providers for which runs may wait that found no slot. */
  private readonly behind = new Set<string>();
  private readonly underWay: UnderWay;
  /** Rings when a run comes back that this process postponed. Another worker may have more luck with it, such as a key. */
  private readonly comingBack = new Alarm(() =>
    this.underWay.track(
      this.sweep((provider) => this.queues.wake(provider)),
      'the waiting runs could not be swept',
    ),
  );
  private isTaking = false;
  private isSweeping = false;
  /** When the database answered last, and since when it has gone on to, by its own clock. */
  private answeredAtMs = -Infinity;
  private answersSinceMs = -Infinity;
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
      'WORKER_DISPATCH_CONCURRENCY' | 'CLAIM_LEASE_MS' | 'WORKER_CLOSE_MS'
    >,
    @Inject(LOG) private readonly log: Pick<Log, 'warn'>,
  ) {
    this.underWay = new UnderWay(log);
    const max = settings.WORKER_DISPATCH_CONCURRENCY;
    this.maxHeld = Math.max(1, Math.min(max - 1, Math.ceil(max * 0.75)));
    this.slots = new Slots({ max, maxOfHolder: this.maxHeld });
    metrics.redelivered.inc({ queue: 'dispatch' }, 0);
  }

  /** Whether runs are taken from now on; submissions under way go on. */
  takeRuns(isTaking: boolean): void {
    this.isTaking = isTaking;
    if (this.sweeps || !isTaking) return;
    this.wakeUps = this.queues.onWakeUp((provider) => this.lookAt(provider));
    this.sweeps = every(sweepEveryMs, () => this.sweep(), {
      onError: (error) => this.log.warn({ error }, 'the waiting runs could not be swept, trying again'),
      immediately: true,
    });
  }

  /** Submissions in the air may end; runs that wait stay in their rows for another worker. */
  async onModuleDestroy(): Promise<void> {
    this.isTaking = false;
    await Promise.all([this.wakeUps?.close(), settlesWithin(this.idle(), this.settings.WORKER_CLOSE_MS)]);
  }

  /** Takes runs that wait for the provider, as long as there are slots for them. */
  private lookAt(provider: string): void {
    if (!this.isTaking) return;
    const isLooking = this.looking.has(provider);
    this.looking.set(provider, true);
    if (!isLooking) this.underWay.track(this.look(provider), 'waiting runs could not be taken');
  }

  /** Once at a time: two looks at once would both find a workspace below its share. */
  private async look(name: string): Promise<void> {
    try {
      while (this.looking.get(name) && this.isTaking) {
        this.looking.set(name, false);
        const provider = this.providers.get(name);
        // Declared by an operator, and not known to this process yet: a worker that knows it takes them.
        if (provider === undefined) continue;
        if (provider.secret === undefined) await sleep(keylessMs);
        if (this.isTaking) await this.take(provider);
      }
    } finally {
      this.looking.delete(name);
    }
  }

  /**
   * Takes at most half of the free slots' worth, so that a burst is shared among the workers: a worker that took a full part
   * wakes another one.
   */
  private async take(provider: BoundProvider): Promise<void> {
    const { name } = provider;
    const { maxHeld } = this;
    const most = Math.min(maxTaken, Math.ceil(this.slots.free(name) / 2));
    // Submissions finish while the statement runs: their workspaces were limited by the slots they held before.
    const held = new Map(this.slots.heldOf(name));
    const leaseMs = this.settings.CLAIM_LEASE_MS;
    const taken = most === 0 ? [] : await this.runs.takeRuns(name, { held, maxHeld, most, leaseMs });
    for (const run of taken) {
      held.set(run.workspaceId, (held.get(run.workspaceId) ?? 0) + 1);
      this.underWay.track(this.dispatch(provider, run), 'a run could not be dispatched');
    }
    const limited = [...held].filter(([, slots]) => slots >= maxHeld);
    if (taken.length === most || limited.length > 0) this.behind.add(name);
    else this.behind.delete(name);
    const heldNow = this.slots.heldOf(name);
    if (limited.some(([workspaceId]) => (heldNow.get(workspaceId) ?? 0) < maxHeld))
      this.looking.set(name, true);
    if (most === 0 || taken.length < most) return;
    this.looking.set(name, true);
    this.queues.wake(name);
  }

  private async dispatch(provider: BoundProvider, run: TakenRun): Promise<void> {
    const { name } = provider;
    const slot = this.slots.acquire(name, run.workspaceId);
    try {
      if (run.waitedMs !== null)
        this.metrics.queueWaitSeconds.observe({ queue: 'dispatch' }, run.waitedMs / 1000);
      using lease = this.claims.hold(run);
      const submitted =
        lease === null
          ? await this.outcomes.postpone(run, suspectAgainMs)
          : await this.submission.submit(provider, run);
      if (submitted.kind !== 'waits') return;
      if (submitted.afterMs > 0) this.comingBack.set(submitted.afterMs);
      else this.lookAt(submitted.provider);
    } finally {
      slot?.[Symbol.dispose]();
      if (this.behind.has(name)) this.lookAt(name);
    }
  }

  private async sweep(found = (provider: string): void => this.lookAt(provider)): Promise<void> {
    if (!this.isTaking || this.isSweeping) return;
    this.isSweeping = true;
    try {
      for (const run of await this.runs.sweep(maxSwept, this.settings.CLAIM_LEASE_MS, await this.answering()))
        this.underWay.track(this.settle(run), 'a swept run could not be ended');
      for (const provider of await this.runs.providersToLookAt()) found(provider);
    } finally {
      this.isSweeping = false;
    }
  }

  /**
   * While the database was away no worker could renew its leases: from when it answers again, each gets two rounds of renewals.
   * Before the first answer it may have been away as well.
   */
  private async answering(): Promise<{ askedAt: Date; judgesFrom: Date }> {
    const askedAt = await this.runs.readClock();
    const leaseMs = this.settings.CLAIM_LEASE_MS;
    if (askedAt.getTime() - this.answeredAtMs > leaseMs / 6 + sweepEveryMs)
      this.answersSinceMs = askedAt.getTime();
    this.answeredAtMs = askedAt.getTime();
    return { askedAt, judgesFrom: new Date(this.answersSinceMs + (leaseMs * 2) / 3) };
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

  /** Runs that a look has taken meanwhile are submitted too. */
  private async idle(): Promise<void> {
    await this.sweeps?.stop();
    await this.underWay.ended();
  }
}
