import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, type PeriodicWork, settlesWithin } from '#observability';
import type { BoundProvider } from '#providers';
import { type DeliveredRun, done, type JobResult, retryIn, RunProcessor, RunQueues, type Slot } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject, type OnApplicationBootstrap } from '@nestjs/common';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { type Claimed, Claims } from './claims.js';
import { Outcomes } from './outcomes.js';
import { Submission, type Submitted } from './submission.js';
import { WaitingLine, type WaitingRun } from './waiting-line.js';

/** Pause before another try: the provider was not known, the dispatch failed, or a suspect has to wait for another one. */
const againMs = 1_000;
/** Runs that other workers turned away are found after this time. */
const findEveryMs = 1_000;

/** Claims a run and submits it to its provider, under one of the provider's concurrency slots. */
@Processor('dispatch')
export class DispatchProcessor extends RunProcessor implements OnApplicationBootstrap {
  protected readonly closeGraceMs: number;
  /** Work on runs from the waiting line, which have no job. */
  private readonly taken = new Set<Promise<void>>();
  /** Providers whose line is being served, and whether it may have changed since it was last read. */
  private readonly serving = new Map<string, boolean>();
  private finding: PeriodicWork | undefined;

  constructor(
    private readonly providers: Providers,
    private readonly line: WaitingLine,
    private readonly claims: Claims,
    private readonly submission: Submission,
    private readonly outcomes: Outcomes,
    private readonly queues: RunQueues,
    @Inject(SETTINGS) settings: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>,
    @Inject(LOG) private readonly logger: Pick<Log, 'warn'>,
  ) {
    super();
    this.closeGraceMs = settings.WORKER_CLOSE_MS;
  }

  onApplicationBootstrap(): void {
    this.finding = every(findEveryMs, () => this.findAwaited(), {
      onError: (error) => this.logger.warn({ error }, 'the waiting line could not be read, trying again'),
    });
  }

  override async onModuleDestroy(): Promise<void> {
    // Submissions in the air may end; what is waiting stays in its row for another worker.
    await Promise.all([super.onModuleDestroy(), settlesWithin(this.idle(), this.closeGraceMs)]);
  }

  protected async handle(
    { runId, provider, mayHaveCrashed }: DeliveredRun,
    signal: AbortSignal,
  ): Promise<JobResult> {
    const bound = this.providers.get(provider);
    // Declared by an operator, and not known to this process yet: later, by one that knows it.
    if (bound === undefined) return retryIn(againMs);
    if (signal.aborted) return retryIn(0);
    const slot = this.line.acquire(provider);
    return slot ? this.dispatch(bound, runId, slot, mayHaveCrashed) : this.wait(provider, runId);
  }

  /** Its job ends: the next free slot takes it from the line. */
  private async wait(provider: string, runId: string): Promise<JobResult> {
    await this.line.join(provider, runId);
    this.takeNext(provider);
    return done;
  }

  private async dispatch(
    provider: BoundProvider,
    runId: string,
    slot: Slot,
    mayHaveCrashed: boolean,
  ): Promise<JobResult> {
    try {
      const claim = await this.claims.claim(runId);
      switch (claim.kind) {
        case 'gone':
          // Perhaps its worker died between the handle and the first poll. A poll of a run that needs none ends at once.
          if (mayHaveCrashed) await this.queues.enqueue([{ queue: 'poll', provider: provider.name, runId }]);
          return done;
        case 'held':
          return retryIn(claim.freeInMs + 100);
        case 'abandoned':
          return await this.outcomes.giveUp(runId, claim);
        case 'claimed': {
          slot.workspaceId = claim.workspaceId;
          // The line may have waited for the workspace to become known.
          this.takeNext(provider.name);
          const submitted = await this.submit(provider, runId, claim);
          return submitted.kind === 'moved' ? await this.wait(submitted.provider, runId) : submitted;
        }
      }
    } finally {
      slot.release();
      this.takeNext(provider.name);
    }
  }

  private async submit(provider: BoundProvider, runId: string, claim: Claimed): Promise<Submitted> {
    // The job may be older than the run's move to another server.
    const serving = claim.provider === provider.name ? provider : this.providers.get(claim.provider);
    if (serving === undefined) throw new Error(`there is no provider ${claim.provider}`);
    using lease = this.claims.hold(runId, claim);
    return lease === null
      ? await this.outcomes.postpone({ ...claim, runId }, againMs)
      : await this.submission.submit(serving, runId, claim);
  }

  /** Gives free slots to runs of the waiting line; each goes on beside the job that made room. */
  private takeNext(provider: string): void {
    if (!this.isTaking || !this.line.isAwaited(provider)) return;
    const isServed = this.serving.has(provider);
    this.serving.set(provider, true);
    if (!isServed) this.track(this.serve(provider), 'the next waiting run could not be taken');
  }

  /** Reads the line once at a time: two reads at once would both find their workspace below its share. */
  private async serve(name: string): Promise<void> {
    try {
      while (this.serving.get(name) && this.isTaking) {
        this.serving.set(name, false);
        const provider = this.providers.get(name);
        if (provider === undefined) continue;
        const taken = await this.line.next(name);
        // One read of an uneven line is bounded: there may be more.
        if (taken.length > 0) this.serving.set(name, true);
        for (const next of taken)
          this.track(this.dispatchWaiting(provider, next), 'a waiting run could not be delivered again');
      }
    } finally {
      this.serving.delete(name);
    }
  }

  private async dispatchWaiting(provider: BoundProvider, { runId, slot }: WaitingRun): Promise<void> {
    const result = await this.dispatch(provider, runId, slot, false).catch((error: unknown): JobResult => {
      this.worker.host.outage.trouble(error, 'a waiting run could not be dispatched');
      return retryIn(againMs);
    });
    // It has no job: if the queue does not accept one, its outbox row brings the run back.
    if (result.kind === 'retry')
      await this.queues.enqueue([{ runId, provider: provider.name, delayMs: result.delayMs }]);
  }

  private track(work: Promise<void>, whatFailed: string): void {
    const tracked = work.catch((error: unknown) => this.worker.host.outage.trouble(error, whatFailed));
    this.taken.add(tracked);
    void tracked.finally(() => this.taken.delete(tracked));
  }

  /** Runs that a read of the line has taken meanwhile are submitted too. */
  private async idle(): Promise<void> {
    await this.finding?.stop();
    while (this.taken.size > 0) await Promise.all(this.taken);
  }

  private async findAwaited(): Promise<void> {
    for (const provider of await this.line.findAwaited()) this.takeNext(provider);
  }
}
