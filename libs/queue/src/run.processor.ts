import { RouterError } from '#errors';
import { backoff, LOG, type Log, Metrics } from '#observability';
import { WorkerHost } from '@nestjs/bullmq';
import { Inject, type OnModuleDestroy } from '@nestjs/common';
import { DelayedError } from 'bullmq';
import { type QueueName, RunQueues } from './run-queues.js';
import { done, type JobResult, retryIn, type RunJob, type RunWorker } from './run-worker.js';

/** One delivery of a run. */
export interface DeliveredRun {
  runId: string;
  /** The server's word, which is not trusted: the row knows the provider. */
  provider: string;
  /**
   * Whether the last handler of this run may never have returned because its process died or froze. A hint, which may be
   * lost, and of Redis' is not trusted: crashes are counted in the row.
   */
  mayHaveCrashed: boolean;
}

const runIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const providerPattern = /^[a-z0-9._-]{1,64}$/;

/** While the database is away the job stays: a dropped one would come back only when its outbox row has rested. */
const databaseAwayMs = 1_000;
/** A run whose handler threw comes again after this time, or on Redis when its row falls due: nothing else has noticed it. */
const thrownAgainMs = 10_000;
/** So many runs without a slot are taken: enough to find those of other providers behind those of one that hangs. */
export const maxSlotless = 500;
/**
 * Runs whose worker died come again at times that are spread wider with each time in a row: the one that kills its
 * workers must not take the same neighbours along each time.
 */
const separation = { baseMs: 500, maxMs: 10_000, jitter: 1 };
export const separationMs = (deaths: number): number => backoff(deaths, separation);

/**
 * Handles runs, each delivered by a BullMQ job or, without Redis, by whoever took its row. A handler that throws costs
 * its job: the outbox row brings the run back.
 */
export abstract class RunProcessor extends WorkerHost<RunWorker> implements OnModuleDestroy {
  abstract readonly queue: QueueName;
  /** How long handlers may go on when the app closes, in milliseconds; then their signal aborts. */
  abstract readonly closeGraceMs: number;
  @Inject(LOG) protected readonly log: Log;
  @Inject(Metrics) protected readonly metrics: Metrics;
  @Inject(RunQueues) private readonly queues: RunQueues;
  /** How many runs this process may handle at once: those that hold a slot and a bounded number beside them. */
  maxRuns = maxSlotless;
  private isClosing = false;

  /** `signal` aborts when the job's lock, or the row's lease, is lost or the app closes: stop, write nothing more. */
  protected abstract handle(run: DeliveredRun, signal: AbortSignal): Promise<JobResult>;

  /** BullMQ hands out the signal only to a function that declares three parameters, none of them with a default. */
  async process(job: RunJob, _token?: string, givenSignal?: AbortSignal): Promise<JobResult> {
    const signal = givenSignal ?? neverAborts;
    const { context, lateness } = this.worker;
    // BullMQ had already fetched this job when the worker was paused.
    if (this.worker.isPaused()) return retryIn(0);
    const { id: runId = '', name: provider } = job;
    // Not one of our jobs: a statement of many runs would fail over it.
    if (!runIdPattern.test(runId) || !providerPattern.test(provider)) return done;
    lateness.taken(job);
    const stalls = await noteStalls(job);
    if (stalls > 0) {
      this.metrics.stalledJobs.inc({ queue: this.queue });
      return retryIn(separationMs(stalls));
    }
    const run = { runId, provider, mayHaveCrashed: Boolean(job.data.crashes) };
    const result = await context.activity.during(() => this.deliver(run, signal, done));
    // Another worker has the job now: this error is BullMQ's way to leave it as it is.
    if (signal.aborted && signal.reason === 'lock lost') {
      this.metrics.lostLocks.inc({ queue: this.queue });
      throw new DelayedError('lock lost');
    }
    if (result.kind === 'retry') {
      await forgetCrashes(job);
      lateness.putOff(runId, result.delayMs);
    }
    return result;
  }

  /** Handles a run. Never rejects: a handler that throws makes the result `afterThrow`. */
  async deliver(
    run: DeliveredRun,
    signal: AbortSignal,
    afterThrow = retryIn(thrownAgainMs),
  ): Promise<JobResult> {
    try {
      return await this.handle(run, signal);
    } catch (error) {
      if (signal.aborted) return retryIn(0);
      if (error instanceof RouterError && error.bucket === 'service_unavailable')
        return retryIn(databaseAwayMs);
      this.log.error(
        { run_id: run.runId, queue: this.queue, err: error },
        'a handler threw; the run comes again',
      );
      return afterThrow;
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    await this.startedWorker()?.shutDown(this.closeGraceMs);
  }

  /** Others wait in the queue, where they cost nothing. */
  protected readonly boundRuns = (holdingSlots: number): void => {
    this.maxRuns = holdingSlots + maxSlotless;
    const worker = this.startedWorker();
    if (worker) worker.concurrency = this.maxRuns;
  };

  /** False before runs are taken for the first time, after the app was told to stop, and while taking is paused. */
  protected get isTaking(): boolean {
    return this.queues.isTaking && !this.isClosing;
  }

  /** Nest throws as long as no worker is registered. */
  private startedWorker(): RunWorker | undefined {
    try {
      return this.worker;
    } catch {
      return undefined;
    }
  }
}

const neverAborts = new AbortController().signal;

/** Stalls in a row if the job has stalled since its last delivery, because its worker died or froze; else 0. */
async function noteStalls(job: RunJob): Promise<number> {
  const stalls = job.stalledCounter - (job.data.stallsSeen ?? 0);
  if (stalls <= 0) return 0;
  const crashes = (job.data.crashes ?? 0) + stalls;
  await job.updateData({ stallsSeen: job.stalledCounter, crashes });
  return crashes;
}

async function forgetCrashes(job: RunJob): Promise<void> {
  if (!job.data.crashes) return;
  // When it fails the job is gone, or a count too high is kept until the next time.
  await job.updateData({ stallsSeen: job.stalledCounter, crashes: 0 }).catch(() => {});
}
