import type { Metrics } from '#observability';
import { DelayedError, type IQueueBackend, type Job, type JobProgress, Worker } from 'bullmq';
import { settlesWithin } from './bounded.js';
import type { Execution, Executions } from './execution.js';
import type { OutageLog } from './outage-log.js';
import type { Consumer, Consumption, LaneKind, Log } from './port.js';
import { Punctuality } from './punctuality.js';
import { Seat } from './seat.js';
import type { QueueSettings } from './settings.js';

/** A job of a provider that this process does not serve is offered to the others after this time. */
const FOREIGN_AFTER_MS = 5_000;
/** A job for which its provider's share of a common lane has no room comes again after this time. */
const CROWDED_AFTER_MS = 1_000;
/**
 * What stalled together is separated by up to this time for each stall in a row: the job that kills its
 * workers must not take the same neighbours along each time.
 */
const SPREAD_MS = 500;
/** What an aborted handler is given to return before its connections are cut. */
const SETTLE_MS = 1_000;
const RESTART_AFTER_MS = 1_000;
const LONGEST_BLOCK_SECONDS = 5;

/** What BullMQ keeps with a job: a run that stalls is counted here, because BullMQ's own count is never reset. */
interface Envelope {
  stallsSeen?: number;
  crashes?: number;
}
type LaneJob = Job<Envelope, void>;
type Process = (job: LaneJob, token: string | undefined) => Promise<void>;

/** BullMQ's worker with an end to every wait for a wake-up that got lost, and one to its lock timer. */
export class BullWorker extends Worker<Envelope, void, string, IQueueBackend, JobProgress, unknown> {
  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), LONGEST_BLOCK_SECONDS);
  }

  /**
   * BullMQ's loop notices more room only when a job ends. A finished fetch wakes it at once, which is what
   * its own `resume` does; a pause and a resume would do too, but now and then they end the loop.
   */
  widen(concurrency: number): void {
    this.concurrency = concurrency;
    const loop = Reflect.get(this, 'mainLoopQueue') as { add(fetch: Promise<void>): void } | null;
    loop?.add(Promise.resolve());
  }

  abandon(): void {
    void this.lockManager.close();
  }
}

/** A running BullMQ worker and the connections under it, which are ours. */
interface LaneLink {
  worker: BullWorker;
  connected(): boolean;
  /** Cuts the connections, whatever they are doing. */
  end(): Promise<void>;
}

export interface LaneOptions {
  name: string;
  lane: LaneKind;
  settings: QueueSettings;
  log: Log;
  metrics: Metrics | undefined;
  outage: OutageLog;
  /** Whether the lane carries several providers, with a seat for each. */
  shared: boolean;
  /** Resolves when a worker can be started; never rejects. */
  ready: Promise<void>;
  link(process: Process, options: ReturnType<typeof workerOptions>): LaneLink;
}

/**
 * One lane's worker in this process. It turns a handler's verdict into BullMQ's moves and owns the
 * signal that handlers get. A handler that throws costs its job: the delivery row brings the run back.
 */
export class LaneWorker {
  private readonly seats = new Map<string, Seat>();
  private link: LaneLink | undefined;
  private readonly punctuality: Punctuality;
  private stopping: Promise<void> | undefined;
  private readonly lockClock: NodeJS.Timeout;

  constructor(private readonly options: LaneOptions) {
    this.punctuality = new Punctuality(options.name, options.metrics);
    options.metrics?.stalledJobs.inc({ queue: options.name }, 0);
    options.metrics?.lostLocks.inc({ queue: options.name }, 0);
    this.lockClock = setInterval(
      () => this.eachExecutions((executions) => executions.expire()),
      Math.max(50, options.settings.QUEUE_LOCK_MS / 20),
    );
    this.lockClock.unref();
    void options.ready.then(() => this.start());
  }

  get stopped(): boolean {
    return this.stopping !== undefined;
  }

  open(consumption: Consumption): Consumer {
    const key = this.seatOf(consumption.provider);
    if (this.seats.has(key))
      throw new Error(`${this.options.name} ${key} is already consumed by this process`);
    const seat = new Seat(consumption, this.options.settings.QUEUE_LOCK_MS);
    this.seats.set(key, seat);
    this.spread();
    return { close: (graceMs) => this.leave(key, seat, graceMs) };
  }

  /** Stops fetching, gives running handlers `graceMs`, aborts the rest and cuts the connections. */
  stop(graceMs: number): Promise<void> {
    this.stopping ??= this.wind(graceMs);
    return this.stopping;
  }

  private async leave(key: string, seat: Seat, graceMs: number): Promise<void> {
    seat.leave();
    const others = [...this.seats.values()].some((other) => !other.leaving);
    if (!others) return this.stop(graceMs);
    if (!(await settlesWithin(seat.executions.idle(), graceMs))) {
      seat.executions.abortAll();
      await settlesWithin(seat.executions.idle(), SETTLE_MS);
    }
    this.seats.delete(key);
    this.spread();
  }

  private async wind(graceMs: number): Promise<void> {
    const { link } = this;
    for (const seat of this.seats.values()) seat.leave();
    if (link) {
      // Pausing first stops the stalled check, whose timer would outlive a close that cannot finish.
      void link.worker.pause(true);
      // BullMQ's orderly close waits for the server, so without one only the handlers are waited for.
      const done = link.connected() ? link.worker.close() : this.idle();
      if (!(await settlesWithin(done, graceMs))) {
        this.eachExecutions((executions) => executions.abortAll());
        await settlesWithin(done, SETTLE_MS);
      }
      void link.worker.close(true);
      link.worker.abandon();
      await settlesWithin(link.end(), SETTLE_MS);
    }
    clearInterval(this.lockClock);
    this.seats.clear();
  }

  private idle(): Promise<unknown> {
    return Promise.all([...this.seats.values()].map((seat) => seat.executions.idle()));
  }

  private start(): void {
    if (this.stopping) return;
    const link = this.options.link(
      (job, token) => this.process(job, token),
      workerOptions(this.options.settings),
    );
    this.link = link;
    const { worker } = link;
    worker.on('error', (error) => this.options.outage.trouble(error, `worker of ${this.options.name}`));
    worker.on('lockRenewalFailed', (ids) => this.eachExecutions((executions) => executions.lost(ids)));
    worker.on('locksRenewed', ({ jobIds }) =>
      this.eachExecutions((executions) => executions.renewed(jobIds)),
    );
    this.spread();
    // BullMQ keeps a failed start for ever, so a worker that did not come up is replaced.
    worker.waitUntilReady().catch(() => {
      if (this.stopping) return;
      void worker.close(true);
      worker.abandon();
      void link.end();
      setTimeout(() => this.start(), RESTART_AFTER_MS).unref();
    });
  }

  private spread(): void {
    const seats = [...this.seats.values()].filter((seat) => !seat.leaving);
    const slots = seats.reduce((sum, seat) => sum + seat.slots(this.options.shared), 0);
    this.link?.worker.widen(Math.max(1, slots));
  }

  private seatOf(provider: string): string {
    return this.options.shared ? provider : this.options.name;
  }

  private async process(job: LaneJob, token: string | undefined): Promise<void> {
    const seat = this.seats.get(this.seatOf(job.name));
    if (this.stopping) return putBack(job, token, 0);
    if (!seat || seat.leaving) return putBack(job, token, FOREIGN_AFTER_MS);
    if (seat.full) return putBack(job, token, CROWDED_AFTER_MS);
    this.punctuality.taken(job);
    const crashes = await noteStalls(job);
    if (crashes > 0) this.options.metrics?.stalledJobs.inc({ queue: this.options.name });
    if (crashes > 0) return putBack(job, token, Math.random() * crashes * SPREAD_MS);

    const execution = seat.executions.start(job.id ?? '');
    let againAfterMs: number | null;
    try {
      againAfterMs = await this.handle(seat, execution, job.data.crashes ?? 0);
    } finally {
      seat.executions.end(execution);
    }
    // The job is somebody else's now: this error is BullMQ's way to leave it as it is.
    if (execution.abortion === 'lock lost') {
      this.options.metrics?.lostLocks.inc({ queue: this.options.name });
      throw new DelayedError('lock lost');
    }
    if (againAfterMs === null) return;
    await forgetCrashes(job);
    this.punctuality.wanted(job, againAfterMs);
    return putBack(job, token, againAfterMs);
  }

  /** After how many milliseconds the job is wanted again; null when it is done. */
  private async handle(seat: Seat, execution: Execution, crashes: number): Promise<number | null> {
    if (!(await seat.enter(execution.signal))) return 0;
    try {
      const verdict = await seat.handle(execution.jobId, execution.signal, crashes);
      return verdict.kind === 'again' ? verdict.afterMs : null;
    } catch (error) {
      if (execution.abortion === 'closing') return 0;
      if (execution.abortion === null) this.sayFailed(execution.jobId, error);
      return null;
    } finally {
      seat.exit();
    }
  }

  private sayFailed(runId: string, error: unknown): void {
    this.options.log.error(
      { runId, lane: this.options.name, err: error },
      'a handler threw; the sweep will deliver the run again',
    );
  }

  private eachExecutions(act: (executions: Executions) => void): void {
    for (const seat of this.seats.values()) act(seat.executions);
  }
}

/** Stalls in a row when the job has stalled since the last look, which is that its worker died or froze; else 0. */
async function noteStalls(job: LaneJob): Promise<number> {
  const stalls = job.stalledCounter - (job.data.stallsSeen ?? 0);
  if (stalls <= 0) return 0;
  const crashes = (job.data.crashes ?? 0) + stalls;
  await job.updateData({ stallsSeen: job.stalledCounter, crashes });
  return crashes;
}

async function forgetCrashes(job: LaneJob): Promise<void> {
  if (!job.data.crashes) return;
  // When it fails the job is gone, or a count too high is kept until the next time.
  await job.updateData({ stallsSeen: job.stalledCounter, crashes: 0 }).catch(() => {});
}

async function putBack(job: LaneJob, token: string | undefined, afterMs: number): Promise<never> {
  // When the move fails the job is gone or not ours, or its lock expires and another worker takes it.
  await job.moveToDelayed(Date.now() + Math.round(afterMs), token).catch(() => {});
  throw new DelayedError();
}

function workerOptions(settings: QueueSettings) {
  return {
    lockDuration: settings.QUEUE_LOCK_MS,
    stalledInterval: settings.QUEUE_STALLED_MS,
    // The stall counter of a job is never reset; attempts are counted on the run's row instead.
    maxStalledCount: 2 ** 31 - 1,
    drainDelay: LONGEST_BLOCK_SECONDS,
    runRetryDelay: 1_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  };
}
