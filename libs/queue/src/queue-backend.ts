import { type Log, type Metrics, settlesWithin } from '#observability';
import type { BackendFactory, BulkJobOptions, Queue, QueueBaseOptions } from 'bullmq';
import { OutageLog } from './outage-log.js';
import type { RunSignals } from './run-signals.js';
import type { QueueSettings } from './settings.js';
import type { WakeUpListener, WakeUps } from './wake-ups.js';

/** The connection of one BullMQ worker. It belongs to us, so that a close need not wait for a server that is away. */
export interface WorkerConnection {
  /** As BullMQ takes it: an ioredis client or a `pg` pool. */
  client: unknown;
  isConnected(): boolean;
  /** Cuts the connection, whatever it is doing. */
  end(): Promise<void>;
}

/** Several at once are a pipeline on Redis and temporary tables on Postgres, which cost as much as eight one by one. */
const minBulkJobs = 8;

interface AddedJob {
  name: string;
  data: object;
  opts: BulkJobOptions;
}

/**
 * The server behind the queues: Redis, or Postgres through BullMQ's own backend. It travels to BullMQ's queues and
 * workers as their `connection`, because each process has one and BullMQ's settings for such things are static.
 */
export abstract class QueueBackend {
  abstract readonly kind: 'redis' | 'postgres';
  abstract readonly signals: RunSignals;
  abstract readonly wakeUps: WakeUps;
  readonly outage: OutageLog;
  readonly activity = new Activity();
  /** The workers of this process, one for each of its queues, and its listener for wake-ups. */
  readonly workers = new Set<{ pause(now: true): unknown; resume(): unknown }>();
  protected closing = false;

  constructor(
    readonly settings: QueueSettings,
    readonly log: Log,
    readonly metrics: Metrics,
    server: string,
  ) {
    this.outage = new OutageLog(log, server);
  }

  /** False while nothing would be accepted; tells without a round trip. */
  abstract get isUp(): boolean;
  /** Rejects when the server takes no writes. */
  protected abstract write(): Promise<unknown>;
  /** BullMQ's own backend, over the connection that it is given. */
  protected abstract readonly factory: BackendFactory<never, never>;
  /** The connection that all queues of the process share. It never waits long: producers must not. */
  protected abstract readonly producer: unknown;
  abstract connectWorker(queue: string): WorkerConnection;
  protected abstract shut(): Promise<void>;

  /** BullMQ calls this for each of its queues and workers. */
  create(
    name: string,
    options: QueueBaseOptions,
    uses?: { blocking?: boolean; withBlockingConnection?: boolean },
  ): never {
    const isWorker = uses?.withBlockingConnection === true;
    const connection = isWorker ? options.connection : this.producer;
    // If BullMQ does not know the server's version, it waits for whole seconds only: delayed jobs would come that late.
    return this.factory(name, { ...options, connection, skipVersionCheck: !isWorker } as never, uses);
  }

  /** Adds jobs to one of BullMQ's queues; one that is there already stays as it is. */
  add(queue: Queue, jobs: AddedJob[]): Promise<unknown> {
    if (jobs.length >= minBulkJobs) return queue.addBulk(jobs);
    return Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)));
  }

  /** True when `work` succeeded within the command timeout; a failure is logged, not thrown. */
  async succeeds(work: Promise<unknown>, what: string): Promise<boolean> {
    const answered = work.then(
      () => true,
      (error: unknown) => {
        this.failed(error, what);
        return false;
      },
    );
    if (await settlesWithin(answered, this.settings.QUEUE_COMMAND_TIMEOUT_MS)) return answered;
    this.failed(new Error('no answer in time'), what);
    return false;
  }

  /** Whether the server is there and takes jobs. */
  async healthy(): Promise<boolean> {
    return this.isUp && (await this.succeeds(this.write(), 'a probe was not answered'));
  }

  /** Calls `heard` with each provider that runs were said to wait for. */
  listen(heard: (provider: string) => void): WakeUpListener {
    const listener = this.wakeUps.listen(heard);
    this.workers.add(listener);
    return listener;
  }

  protected failed(error: unknown, what: string): void {
    this.outage.trouble(error, what);
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    await this.shut();
  }
}

/**
 * Whether this worker still takes jobs. It is stuck when work has waited for a minute, it is doing nothing, and it took
 * nothing: then only a restart helps. A server that is away counts no waiting work, and one that refuses to give any is
 * no fault of this process, so an outage of a dependency never restarts anybody.
 */
export class Activity {
  private working = 0;
  private idleWhileWaitingSinceMs: number | null = null;

  constructor(
    private readonly patienceMs = 60_000,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  get isStuck(): boolean {
    const sinceMs = this.idleWhileWaitingSinceMs;
    return sinceMs !== null && this.nowMs() - sinceMs >= this.patienceMs;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.working += 1;
    this.idleWhileWaitingSinceMs = null;
    try {
      return await work();
    } finally {
      this.working -= 1;
    }
  }

  /** Jobs that wait in the queues, by a count made just now. */
  noteWaiting(jobs: number): void {
    if (jobs === 0 || this.working > 0) this.idleWhileWaitingSinceMs = null;
    else this.idleWhileWaitingSinceMs ??= this.nowMs();
  }

  /** The server was asked for a job and answered with an error, as one does that is out of memory, or a replica. */
  noteRefusal(): void {
    this.idleWhileWaitingSinceMs = null;
  }
}
