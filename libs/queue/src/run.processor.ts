import { RouterError } from '#errors';
import { backoff, type Log } from '#observability';
import { WorkerHost } from '@nestjs/bullmq';
import type { OnModuleDestroy } from '@nestjs/common';
import { DelayedError } from 'bullmq';
import { done, type JobResult, retryIn, type RunJob, type RunWorker } from './run-worker.js';

/** One delivery of a run. */
export interface DeliveredRun {
  runId: string;
  /** The server's word, which is not trusted: the row knows the provider. */
  provider: string;
  /**
   * Whether the last handler of this job may never have returned because its process died or froze. A hint of the
   * server's, which is not trusted and may be lost: crashes are counted in the row.
   */
  mayHaveCrashed: boolean;
}

const runIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const providerPattern = /^[a-z0-9._-]{1,64}$/;

/** While the database is away the job stays: a dropped one would come back only when its outbox row has rested. */
const databaseAwayMs = 1_000;
/** So many jobs without a slot are taken: enough to find those of other providers behind those of one that hangs. */
export const maxSlotless = 500;
/**
 * Jobs that stalled together come again at times that are spread wider with each stall in a row: the job that kills its
 * workers must not take the same neighbours along each time.
 */
const separation = { baseMs: 500, maxMs: 10_000, jitter: 1 };

/**
 * A processor whose jobs are runs. It turns a handler's result into BullMQ's moves. A handler that throws costs its
 * job: the outbox row brings the run back.
 */
export abstract class RunProcessor extends WorkerHost<RunWorker> implements OnModuleDestroy {
  /** How long handlers may go on when the app closes, in milliseconds; then their signal aborts. */
  protected abstract readonly closeGraceMs: number;

  /** `signal` aborts when the job's lock is lost or the app closes: stop, write nothing more. */
  protected abstract handle(run: DeliveredRun, signal: AbortSignal): Promise<JobResult>;

  /** BullMQ hands out the signal only to a function that declares three parameters, none of them with a default. */
  async process(job: RunJob, _token?: string, givenSignal?: AbortSignal): Promise<JobResult> {
    const signal = givenSignal ?? neverAborts;
    const { host, lateness } = this.worker;
    // BullMQ had already fetched this job when the worker was paused.
    if (this.worker.isPaused()) return retryIn(0);
    // Not one of our jobs: a statement of many runs would fail over it.
    if (!runIdPattern.test(job.id ?? '') || !providerPattern.test(job.name)) return done;
    lateness.taken(job);
    const stalls = await noteStalls(job);
    if (stalls > 0) {
      host.metrics.stalledJobs.inc({ queue: this.worker.name });
      return retryIn(backoff(stalls, separation));
    }
    const result = await this.resultOf(job, signal);
    // Another worker has the job now: this error is BullMQ's way to leave it as it is.
    if (signal.aborted && signal.reason === 'lock lost') {
      host.metrics.lostLocks.inc({ queue: this.worker.name });
      throw new DelayedError('lock lost');
    }
    if (result.kind === 'retry') {
      await forgetCrashes(job);
      lateness.putOff(job.id ?? '', result.delayMs);
    }
    return result;
  }

  async onModuleDestroy(): Promise<void> {
    await this.startedWorker()?.shutDown(this.closeGraceMs);
  }

  /** Takes as many jobs as hold a slot and a bounded number beside them: others wait in the queue, where they cost nothing. */
  protected readonly boundJobs = (holdingSlots: number): void => {
    this.worker.concurrency = holdingSlots + maxSlotless;
  };

  protected get log(): Log {
    return this.worker.host.log;
  }

  /** False before the worker is registered, after it was told to stop, and while it is paused. */
  protected get isTaking(): boolean {
    return this.startedWorker()?.isPaused() === false;
  }

  private async resultOf(job: RunJob, signal: AbortSignal): Promise<JobResult> {
    const { id: runId = '', name: provider, data } = job;
    try {
      const run = { runId, provider, mayHaveCrashed: Boolean(data.crashes) };
      return await this.worker.host.activity.during(() => this.handle(run, signal));
    } catch (error) {
      if (signal.aborted) return retryIn(0);
      if (error instanceof RouterError && error.bucket === 'service_unavailable')
        return retryIn(databaseAwayMs);
      this.log.error(
        { run_id: runId, queue: this.worker.name, err: error },
        'a handler threw; the reconciler will deliver the run again',
      );
      return done;
    }
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
