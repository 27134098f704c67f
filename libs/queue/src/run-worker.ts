import { type Metrics, type OutageLog, settlesWithin } from '#observability';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, type Processor, Worker, type WorkerOptions } from 'bullmq';
import type { Activity } from './activity.js';
import { disconnect, isReady, type RedisClient } from './redis-connections.js';
import type { QueueSettings } from './settings.js';

/**
 * Data that the queue keeps with a job. It only spreads jobs in time and measures them, and decides nothing,
 * since anyone with access to the server may have written it.
 */
export interface JobData {
  /** How often workers of the job died, because BullMQ's own count is never reset. */
  stallsSeen?: number;
  crashes?: number;
  /** When the job is due, in milliseconds since 1970. BullMQ forgets it when it promotes a delayed job. */
  dueAtMs?: number;
}
/**
 * `done` drops the job; `retry` delivers the same job again after `delayMs`. A run that was put back unhandled
 * keeps its due time, so that its lateness includes the delay.
 */
export type JobResult = { kind: 'done' } | { kind: 'retry'; delayMs: number; isPutBack?: true };
export const done: JobResult = { kind: 'done' };
export const retryIn = (delayMs: number): JobResult => ({ kind: 'retry', delayMs });
export const putBackFor = (delayMs: number): JobResult => ({ kind: 'retry', delayMs, isPutBack: true });

export type RunJob = Job<JobData, JobResult>;

/** Shared by the workers of a process. */
export interface WorkerContext {
  readonly settings: QueueSettings;
  readonly metrics: Metrics;
  readonly outage: OutageLog;
  readonly activity: Activity;
  /** All workers that have not been told to stop. */
  readonly workers: Set<RunWorker>;
  connect(queue: string): RedisClient;
}

/** The braces make the name a hash tag, so that all keys of a queue share a slot of a Redis Cluster. */
export const prefixOf = (queue: string): string => `{mr:${queue}}`;

/** The class of workers that Nest instantiates for one process. */
export const workersOf = (context: WorkerContext) =>
  class extends RunWorker {
    constructor(...call: Processing) {
      super(context, ...call);
    }
  };

type Processing = [name: string, processor: Processor<JobData, JobResult>, options: WorkerOptions];

/** Maximum time of a blocking read on an empty queue, and thus the maximum delay of a job. */
const maxBlockSeconds = 5;
/** How long an aborted handler has to return before its connections are closed. */
const settleMs = 1_000;
const betweenFailuresMs = 200;

/** BullMQ's worker with the settings of this process. Lock ownership and closing are bounded in time. */
export class RunWorker extends Worker<JobData, JobResult> {
  private readonly link: RedisClient;
  private readonly lockedUntilMs = new Map<string, number>();
  private readonly processing = new Set<Promise<unknown>>();
  private readonly lockTimer: NodeJS.Timeout;
  private stopping: Promise<void> | undefined;

  constructor(
    readonly context: WorkerContext,
    ...[name, processor, options]: Processing
  ) {
    // BullMQ duplicates the connection for its blocking command.
    const link = context.connect(name);
    link.on('error', () => {});
    const prefix = prefixOf(name);
    super(name, processor, { ...workerOptions(context.settings), ...options, prefix, connection: link });
    this.link = link;
    const { settings, metrics, outage, workers } = context;
    workers.add(this);
    metrics.stalledJobs.inc({ queue: name }, 0);
    metrics.lostLocks.inc({ queue: name }, 0);
    this.on('error', (error) => outage.trouble(error, `worker of ${name}`));
    this.on('lockRenewalFailed', (jobIds) => this.lose(jobIds));
    this.on('locksRenewed', ({ jobIds }) => {
      for (const jobId of jobIds) this.lockedUntilMs.set(jobId, performance.now() + settings.QUEUE_LOCK_MS);
    });
    this.lockTimer = setInterval(() => this.loseExpired(), Math.max(50, settings.QUEUE_LOCK_MS / 20)).unref();
  }

  /** Stops taking jobs, waits `graceMs` for running ones, aborts the rest and disconnects. Always bounded. */
  shutDown(graceMs: number): Promise<void> {
    this.stopping ??= this.stop(graceMs);
    return this.stopping;
  }

  override close(): Promise<void> {
    return this.shutDown(0);
  }

  /** Tracks a job until BullMQ has moved it after its handler returned, since a close waits for that too. */
  override async processJob(...call: Parameters<Worker<JobData, JobResult>['processJob']>) {
    const [{ id = '' }] = call;
    // A second delivery of the same job in this process proves that the first one's lock is gone.
    this.lose([id]);
    this.lockedUntilMs.set(id, performance.now() + this.context.settings.QUEUE_LOCK_MS);
    const work = super.processJob(...call);
    this.processing.add(work);
    try {
      return await work;
    } finally {
      this.processing.delete(work);
      this.lockedUntilMs.delete(id);
    }
  }

  /**
   * Delays a job, writes its data and takes the next one in a single call to the server. BullMQ's own way,
   * `job.moveToDelayed` and a `DelayedError`, takes two calls.
   */
  protected override async handleCompleted(
    ...call: Parameters<Worker<JobData, JobResult>['handleCompleted']>
  ): ReturnType<Worker<JobData, JobResult>['handleCompleted']> {
    const [result, job, token] = call;
    if (result.kind === 'done') return super.handleCompleted(...call);
    // No check of the concurrency limit is needed: BullMQ counts moves in flight as jobs, and one job
    // replaces another.
    const fetchNext = !this.closing && !this.paused;
    const nowMs = Date.now();
    const delayMs = Math.round(result.delayMs);
    const dueAtMs = (result.isPutBack ? job.data.dueAtMs : undefined) ?? nowMs + delayMs;
    const written: JobData = { ...job.data, dueAtMs };
    const terms = { skipAttempt: true, fetchNext, fieldsToUpdate: { data: JSON.stringify(written) } };
    const moved = this.backend.moveToDelayed(job.id ?? '', nowMs, delayMs, token, terms);
    // If the move fails, the job is gone or no longer ours, or its lock expires and another worker takes it.
    const next = await moved.catch(() => null);
    if (!next) throw new DelayedError();
    const [data, id] = next;
    // BullMQ's types do not allow for no next job.
    return fetchNext ? this.nextJobFromJobData(data, id, token) : (undefined as never);
  }

  /** Pauses after an error: BullMQ retries at once, which would be a busy loop on a failing server. */
  protected override async moveToActive(...call: Parameters<Worker<JobData, JobResult>['moveToActive']>) {
    try {
      return await super.moveToActive(...call);
    } catch (error) {
      this.context.activity.noteRefusal();
      await sleep(betweenFailuresMs);
      throw error;
    }
  }

  private async stop(graceMs: number): Promise<void> {
    this.context.workers.delete(this);
    void this.pause(true);
    if (!(await settlesWithin(this.idle(), graceMs))) {
      this.cancelAllJobs('closing');
      await settlesWithin(this.idle(), settleMs);
    }
    // An orderly close waits for the server and for running jobs.
    const isOrderly = isReady(this.link) && this.processing.size === 0;
    await settlesWithin(super.close(!isOrderly), settleMs);
    // An orderly close that timed out has not closed the lock manager, whose timer would keep the process
    // alive.
    await this.lockManager.close();
    disconnect(this.link);
    clearInterval(this.lockTimer);
  }

  private async idle(): Promise<void> {
    while (this.processing.size > 0) await Promise.allSettled(this.processing);
  }

  private lose(jobIds: readonly string[]): void {
    for (const jobId of jobIds) if (this.lockedUntilMs.delete(jobId)) this.cancelJob(jobId, 'lock lost');
  }

  /**
   * A worker that cannot reach the server learns nothing about its locks, so ownership also ends by this
   * process's own clock: without a renewal within the lock's duration, another worker may have the job.
   */
  private loseExpired(): void {
    const now = performance.now();
    this.lose([...this.lockedUntilMs].flatMap(([jobId, untilMs]) => (untilMs <= now ? [jobId] : [])));
  }
}

function workerOptions(settings: QueueSettings) {
  return {
    // Shown on the board and in the server's list of clients.
    name: `${os.hostname()}-${process.pid}`,
    lockDuration: settings.QUEUE_LOCK_MS,
    stalledInterval: settings.QUEUE_STALLED_MS,
    // BullMQ never resets the stall counter of a job, so attempts are counted in the run's row instead.
    maxStalledCount: 2 ** 31 - 1,
    drainDelay: maxBlockSeconds,
    runRetryDelay: 1_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    // Effectively unlimited here, because providers' slots and `boundRuns` set the limit.
    concurrency: 100_000,
  };
}
