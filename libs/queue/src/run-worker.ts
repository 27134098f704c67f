import { type Metrics, settlesWithin } from '#observability';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, type Processor, Worker, type WorkerOptions } from 'bullmq';
import type { Activity } from './activity.js';
import type { OutageLog } from './outage-log.js';
import { disconnect, isReady, type RedisClient } from './redis-connections.js';
import type { QueueSettings } from './settings.js';

/**
 * The queue keeps with a job, beside its run id, how often its workers died, because BullMQ's own count is never reset.
 * It separates jobs and decides nothing: anybody who reaches the server may have written it.
 */
interface CrashCount {
  stallsSeen?: number;
  crashes?: number;
}
/** `done` drops the job; `retry` delivers the same job once more after `delayMs`. */
export type JobResult = { kind: 'done' } | { kind: 'retry'; delayMs: number };
export const done: JobResult = { kind: 'done' };
export const retryIn = (delayMs: number): JobResult => ({ kind: 'retry', delayMs });

export type RunJob = Job<CrashCount, JobResult>;

/** The workers of a process share it. */
export interface WorkerContext {
  readonly settings: QueueSettings;
  readonly metrics: Metrics;
  readonly outage: OutageLog;
  readonly activity: Activity;
  /** All that have not been told to stop. */
  readonly workers: Set<RunWorker>;
  connect(queue: string): RedisClient;
}

/** Braces make the name the hash tag: all keys of a queue share a slot of a Redis Cluster. */
export const prefixOf = (queue: string): string => `{mr:${queue}}`;

/** The class of workers as Nest makes them, for one process. */
export const workersOf = (context: WorkerContext) =>
  class extends RunWorker {
    constructor(...call: Processing) {
      super(context, ...call);
    }
  };

type Processing = [name: string, processor: Processor<CrashCount, JobResult>, options: WorkerOptions];

/** An empty queue is asked again after this time, so that a lost wake-up costs no more. */
const maxBlockSeconds = 5;
/** An aborted handler gets this time to return before its connections are cut. */
const settleMs = 1_000;
const betweenFailuresMs = 200;

/** So many of the jobs that were put off here are remembered; the rest are not measured. */
const maxRemembered = 20_000;

/** BullMQ's worker with the settings of this process, and an end to every wait: for a lock and a close. */
export class RunWorker extends Worker<CrashCount, JobResult> {
  readonly lateness: Lateness;
  private readonly link: RedisClient;
  private readonly lockedUntilMs = new Map<string, number>();
  private readonly processing = new Set<Promise<unknown>>();
  private readonly lockTimer: NodeJS.Timeout;
  private stopping: Promise<void> | undefined;

  constructor(
    readonly context: WorkerContext,
    ...[name, processor, options]: Processing
  ) {
    // BullMQ duplicates it for its blocking command.
    const link = context.connect(name);
    link.on('error', () => {});
    const prefix = prefixOf(name);
    super(name, processor, { ...workerOptions(context.settings), ...options, prefix, connection: link });
    this.link = link;
    const { settings, metrics, outage, workers } = context;
    workers.add(this);
    this.lateness = new Lateness(name, metrics);
    metrics.stalledJobs.inc({ queue: name }, 0);
    metrics.lostLocks.inc({ queue: name }, 0);
    this.on('error', (error) => outage.trouble(error, `worker of ${name}`));
    this.on('lockRenewalFailed', (jobIds) => this.lose(jobIds));
    this.on('locksRenewed', ({ jobIds }) => {
      for (const jobId of jobIds) this.lockedUntilMs.set(jobId, performance.now() + settings.QUEUE_LOCK_MS);
    });
    this.lockTimer = setInterval(() => this.loseExpired(), Math.max(50, settings.QUEUE_LOCK_MS / 20)).unref();
  }

  /** Stops taking jobs, gives running ones `graceMs`, aborts the rest and cuts the connection. Bounded, whatever the server does. */
  shutDown(graceMs: number): Promise<void> {
    this.stopping ??= this.stop(graceMs);
    return this.stopping;
  }

  override close(): Promise<void> {
    return this.shutDown(0);
  }

  /** BullMQ moves a job on after its handler has returned: that is part of the work that a close waits for. */
  override async processJob(...call: Parameters<Worker<CrashCount, JobResult>['processJob']>) {
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
   * Puts a job off and takes the next one in the same call to the server. BullMQ's own way, `job.moveToDelayed` and a
   * `DelayedError`, takes two.
   */
  protected override async handleCompleted(
    ...call: Parameters<Worker<CrashCount, JobResult>['handleCompleted']>
  ): ReturnType<Worker<CrashCount, JobResult>['handleCompleted']> {
    const [result, job, token] = call;
    if (result.kind === 'done') return super.handleCompleted(...call);
    // It does not check for room: BullMQ counts moves on their way as jobs, and one for one makes no more of them.
    const fetchNext = !this.closing && !this.paused;
    const terms = { skipAttempt: true, fetchNext };
    const delayMs = Math.round(result.delayMs);
    const moved = this.backend.moveToDelayed(job.id ?? '', Date.now(), delayMs, token, terms);
    // When the move fails the job is gone or not ours, or its lock expires and another worker takes it.
    const next = await moved.catch(() => null);
    if (!next) throw new DelayedError();
    const [data, id] = next;
    // BullMQ's types do not know that there may be none.
    return fetchNext ? this.nextJobFromJobData(data, id, token) : (undefined as never);
  }

  /** After an error BullMQ tries again at once: a server that answers with nothing else would burn a processor. */
  protected override async moveToActive(...call: Parameters<Worker<CrashCount, JobResult>['moveToActive']>) {
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
    // An orderly close waits for the server and for what still runs.
    const isOrderly = isReady(this.link) && this.processing.size === 0;
    await settlesWithin(super.close(!isOrderly), settleMs);
    // An orderly close that found no server has not come to it, and its timer would hold the process.
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
   * A worker that cannot reach the server learns nothing about its locks, so ownership ends by this process' own clock too: no
   * renewal within the lock's duration means that another worker may have the job.
   */
  private loseExpired(): void {
    const now = performance.now();
    this.lose([...this.lockedUntilMs].flatMap(([jobId, untilMs]) => (untilMs <= now ? [jobId] : [])));
  }
}

/**
 * How long after it was due a job is taken. The server forgets when a job that was put off is due, so each process
 * remembers those it put off itself: what another one takes is not measured, which is as good a sample.
 */
class Lateness {
  private readonly dueAtMs = new Map<string, number>();

  constructor(
    private readonly queue: string,
    private readonly metrics: Metrics,
  ) {}

  putOff(jobId: string, delayMs: number): void {
    const [oldest] = this.dueAtMs.keys();
    if (oldest !== undefined && this.dueAtMs.size >= maxRemembered) this.dueAtMs.delete(oldest);
    this.dueAtMs.set(jobId, Date.now() + delayMs);
  }

  taken({ id = '', name, timestamp, delay, attemptsStarted }: Job): void {
    const dueAtMs = this.dueAtMs.get(id) ?? (attemptsStarted === 1 ? timestamp + delay : undefined);
    this.dueAtMs.delete(id);
    if (dueAtMs === undefined) return;
    const lateSeconds = Math.max(0, Date.now() - dueAtMs) / 1000;
    if (!Number.isFinite(lateSeconds)) return;
    this.metrics.queueWaitSeconds.observe({ queue: this.queue }, lateSeconds);
    if (this.queue === 'poll') this.metrics.pollLatenessSeconds.observe({ provider: name }, lateSeconds);
  }
}

function workerOptions(settings: QueueSettings) {
  return {
    // Shown on the board and in the server's list of clients.
    name: `${os.hostname()}-${process.pid}`,
    lockDuration: settings.QUEUE_LOCK_MS,
    stalledInterval: settings.QUEUE_STALLED_MS,
    // The stall counter of a job is never reset; attempts are counted on the run's row instead.
    maxStalledCount: 2 ** 31 - 1,
    drainDelay: maxBlockSeconds,
    runRetryDelay: 1_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    // No provider may fill the worker: the bounds are each provider's slots, and see `boundJobs`.
    concurrency: 100_000,
  };
}
