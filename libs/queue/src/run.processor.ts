import { RouterError } from '#errors';
import { backoff, LOG, type Log, Metrics } from '#observability';
import { WorkerHost } from '@nestjs/bullmq';
import { Inject, type OnModuleDestroy } from '@nestjs/common';
import { DelayedError } from 'bullmq';
import { type QueueName, RunQueues } from './run-queues.js';
import { done, type JobResult, putBackFor, retryIn, type RunJob, type RunWorker } from './run-worker.js';

/** One delivery of a run. */
export interface DeliveredRun {
  runId: string;
  /** The line of the run, as reported by the server, which is not trusted. The row holds the real provider. */
  provider: string;
  /**
   * Whether the last handler of this run may not have returned because its process died or froze. Only a
   * hint: it may be lost, and Redis is not trusted. Crashes are counted in the row.
   */
  mayHaveCrashed: boolean;
}

const runIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A provider, and for a run with a key of its workspace the id of the workspace. */
const providerPattern = /^[a-z0-9._-]{1,64}(?:@[0-9a-f-]{36})?$/;

/** While the database is down jobs are retried. Dropped ones would return only when their row is overdue. */
const databaseAwayMs = 1_000;
/** A run whose handler threw is retried after this time, or with Redis when its row is due. */
const thrownAgainMs = 10_000;
/** Maximum number of runs taken without a slot: enough to reach other providers behind one that hangs. */
export const maxSlotless = 500;
/**
 * Runs whose worker died are retried at times that spread wider with each consecutive crash, so that a run
 * that crashes its workers does not take down the same other runs each time.
 */
const separation = { baseMs: 500, maxMs: 10_000, jitter: 1 };
export const separationMs = (deaths: number): number => backoff(deaths, separation);

/**
 * Handles runs, each delivered by a BullMQ job or, without Redis, by `DueRuns`. If a handler throws, its job
 * is dropped and the outbox row brings the run back.
 */
export abstract class RunProcessor extends WorkerHost<RunWorker> implements OnModuleDestroy {
  abstract readonly queue: QueueName;
  /** How long handlers may continue when the app closes, in milliseconds. Then their signal aborts. */
  abstract readonly closeGraceMs: number;
  @Inject(LOG) protected readonly log: Log;
  @Inject(Metrics) protected readonly metrics: Metrics;
  @Inject(RunQueues) private readonly queues: RunQueues;
  /** Maximum number of concurrent runs in this process: those that hold a slot and `maxSlotless` others. */
  maxRuns = maxSlotless;
  private isClosing = false;

  /** `signal` aborts when the job's lock or the row's lease is lost, or the app closes. Stop writing then. */
  protected abstract handle(run: DeliveredRun, signal: AbortSignal): Promise<JobResult>;

  /** BullMQ passes the signal only to a function that declares three parameters without defaults. */
  async process(job: RunJob, _token?: string, givenSignal?: AbortSignal): Promise<JobResult> {
    const signal = givenSignal ?? neverAborts;
    const { context } = this.worker;
    // BullMQ had already fetched this job when the worker was paused.
    if (this.worker.isPaused()) return putBackFor(0);
    const { id: runId = '', name: provider } = job;
    // Not one of our jobs. Its id would break statements for several runs.
    if (!runIdPattern.test(runId) || !providerPattern.test(provider)) return done;
    const stalls = noteStalls(job);
    if (stalls > 0) {
      this.metrics.stalledJobs.inc({ queue: this.queue });
      return retryIn(separationMs(stalls));
    }
    this.measureLateness(job);
    const run = { runId, provider, mayHaveCrashed: Boolean(job.data.crashes) };
    const result = await context.activity.during(() => this.deliver(run, signal, done));
    // Another worker has the job now. This error makes BullMQ leave it alone.
    if (signal.aborted && signal.reason === 'lock lost') {
      this.metrics.lostLocks.inc({ queue: this.queue });
      throw new DelayedError('lock lost');
    }
    if (result.kind === 'retry' && job.data.crashes) job.data = { ...job.data, crashes: 0 };
    return result;
  }

  /** Handles a run. Never rejects; if the handler throws, the result is `afterThrow`. */
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
        'a handler threw; the run will be retried',
      );
      return afterThrow;
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    await this.startedWorker()?.shutDown(this.closeGraceMs);
  }

  /** Bounds the runs of this process. Further runs wait in the queue, where they cost nothing. */
  protected readonly boundRuns = (holdingSlots: number): void => {
    this.maxRuns = holdingSlots + maxSlotless;
    const worker = this.startedWorker();
    if (worker) worker.concurrency = this.maxRuns;
  };

  /** False before the first runs are taken, while taking is paused and once the app is closing. */
  protected get isTaking(): boolean {
    return this.queues.isTaking && !this.isClosing;
  }

  /**
   * Measures against the due time that came with the job, whichever worker wrote it. A run that was brought
   * forward counts as on time, because its due time lies ahead.
   */
  private measureLateness({ name, data: { dueAtMs } }: RunJob): void {
    if (typeof dueAtMs !== 'number') return;
    const lateSeconds = Math.max(0, Date.now() - dueAtMs) / 1000;
    this.metrics.queueWaitSeconds.observe({ queue: this.queue }, lateSeconds);
    if (this.queue !== 'poll') return;
    const [provider] = name.split('@', 1);
    this.metrics.pollLatenessSeconds.observe({ provider }, lateSeconds);
  }

  /** Nest throws until a worker is registered. */
  private startedWorker(): RunWorker | undefined {
    try {
      return this.worker;
    } catch {
      return undefined;
    }
  }
}

const neverAborts = new AbortController().signal;

/**
 * The number of consecutive stalls, or 0 if the job has not stalled since its last delivery. Changes of the
 * job's data are written by the call that delays the job.
 */
function noteStalls(job: RunJob): number {
  const stalls = job.stalledCounter - (job.data.stallsSeen ?? 0);
  if (stalls <= 0) return 0;
  const crashes = (job.data.crashes ?? 0) + stalls;
  job.data = { ...job.data, stallsSeen: job.stalledCounter, crashes };
  return crashes;
}
