import { type Log, type Metrics, OutageLog, settlesWithin } from '#observability';
import { BullModule, type BullRegistrar } from '@nestjs/bullmq';
import { Queue } from 'bullmq';
import { Activity } from './activity.js';
import {
  disconnect,
  isReady,
  producerConnection,
  type RedisClient,
  workerConnection,
} from './redis-connections.js';
import { RedisSignals } from './redis-signals.js';
import { RedisStreams } from './redis-streams.js';
import { RedisWakeUps } from './redis-wake-ups.js';
import { type QueueCounts, type QueuedRun, type QueueName, queueNames, RunQueues } from './run-queues.js';
import { type JobData, prefixOf, type RunWorker, type WorkerContext, workersOf } from './run-worker.js';
import type { QueueSettings } from './settings.js';
import type { WakeUpListener } from './wake-ups.js';

const chunkSize = 500;
/** From this number on, jobs are added in bulk. */
const minBulkJobs = 8;

/**
 * Redis or Valkey: BullMQ jobs, named after their provider, a list for wake-ups, and channels for signals.
 */
export class RedisQueues extends RunQueues implements WorkerContext {
  readonly kind = 'redis';
  readonly signals: RedisSignals;
  readonly streams: RedisStreams;
  readonly outage: OutageLog;
  readonly activity = new Activity();
  /** The BullMQ workers of this process, one per queue. */
  readonly workers = new Set<RunWorker>();
  private readonly byName: Record<QueueName, Queue>;
  private readonly producer: RedisClient;
  private readonly streamSignals: RedisSignals;
  private readonly wakeUps: RedisWakeUps;
  private isRegistered = false;
  private isClosed = false;

  constructor(
    readonly settings: QueueSettings,
    private readonly url: string,
    log: Log,
    readonly metrics: Metrics,
    private readonly registrar: BullRegistrar,
  ) {
    super();
    this.outage = new OutageLog(log, 'redis', {
      consequence: 'runs wait in their rows',
    });
    this.producer = producerConnection(settings, url);
    this.producer.on('error', (error) => this.outage.lost(error));
    this.producer.on('close', () => {
      if (!this.isClosed) this.outage.lost();
    });
    this.producer.on('ready', () => this.outage.back());
    const connect = () => producerConnection(settings, url);
    const signals = (channelPrefix?: string) =>
      new RedisSignals(this.producer, connect, this.outage, settings.SIGNING_SECRET, channelPrefix);
    this.signals = signals();
    this.streamSignals = signals('mr:pieces:');
    this.streams = new RedisStreams(this.producer, this.outage, settings, this.streamSignals);
    this.wakeUps = new RedisWakeUps(
      this.producer,
      () => this.connect('wake-ups'),
      () => this.isTaking,
    );
    this.byName = {
      poll: this.openQueue('poll'),
      assets: this.openQueue('assets'),
      webhooks: this.openQueue('webhooks'),
    };
  }

  get all(): Queue[] {
    return Object.values(this.byName);
  }

  get isStuck(): boolean {
    return this.activity.isStuck;
  }

  /** Opens a connection for one worker. We own it, so closing need not wait for a server that is down. */
  connect(use: string): RedisClient {
    return workerConnection(this.settings, this.url, `model-router ${use}`);
  }

  wake(...providers: string[]): void {
    this.wakeUps.wake(providers);
  }

  onWakeUp(callback: (provider: string) => void): WakeUpListener {
    return this.wakeUps.listen(callback);
  }

  onDueRow(): null {
    return null;
  }

  /** The processors get their workers the first time that jobs are taken. */
  override takeJobs(isTaking: boolean): void {
    super.takeJobs(isTaking);
    if (isTaking && !this.isRegistered) this.register();
    for (const worker of this.workers) void (isTaking ? worker.resume() : worker.pause(true));
  }

  async enqueue(runs: readonly QueuedRun[]): Promise<boolean[]> {
    const accepted = new Set<QueuedRun>();
    const untilMs = performance.now() + this.settings.QUEUE_COMMAND_TIMEOUT_MS;
    for (let at = 0; at < runs.length && this.isUp; at += chunkSize) {
      if (at > 0 && performance.now() > untilMs) break;
      const sizeBefore = accepted.size;
      await Promise.all(
        queueNames.map(async (name) => {
          const chunk = runs.slice(at, at + chunkSize).filter(({ queue }) => queue === name);
          if (chunk.length > 0 && (await this.add(name, chunk))) for (const run of chunk) accepted.add(run);
        }),
      );
      if (accepted.size === sizeBefore) break;
    }
    return runs.map((run) => accepted.has(run));
  }

  async runNow(queue: QueueName, runId: string): Promise<void> {
    if (!this.isUp) return;
    // Fails if the job is not delayed; then there is nothing to do.
    await this.inTime(this.byName[queue].getBackend().changeDelay(runId, 0), null);
  }

  async stateOf(queue: QueueName, runId: string): Promise<'missing' | 'delayed' | 'queued' | null> {
    if (!this.isUp) return null;
    const state = await this.inTime(this.byName[queue].getJobState(runId), null);
    if (state === 'unknown') return 'missing';
    return state === 'delayed' || state === null ? state : 'queued';
  }

  async counts(): Promise<QueueCounts[]> {
    if (!this.isUp) return [];
    const counting = Promise.all(
      queueNames.map(async (queue) => {
        const counts = await this.byName[queue].getJobCounts('waiting', 'active', 'delayed');
        const of = (state: string) => counts[state] ?? 0;
        return { queue, waiting: of('waiting'), active: of('active'), delayed: of('delayed') };
      }),
    );
    const counted = await this.inTime(counting, []);
    this.activity.noteWaiting(counted.reduce((sum, { waiting }) => sum + waiting, 0));
    return counted;
  }

  /** Tries a write: a server that is out of memory, read-only or out of disk space still answers a ping. */
  async healthy(): Promise<boolean> {
    if (!this.isUp) return false;
    return this.succeeds(this.producer.set('mr:writable', '', 'PX', 1_000), 'a health check failed');
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await Promise.all([this.signals.close(), this.streamSignals.close()]);
    disconnect(this.producer);
  }

  /** Whether the server would accept commands, without a round trip. */
  private get isUp(): boolean {
    return isReady(this.producer) && !this.isClosed;
  }

  private openQueue(name: QueueName): Queue {
    const queue = new Queue(name, {
      connection: this.producer,
      prefix: prefixOf(name),
      // The check would wait for the server.
      skipVersionCheck: true,
      // The event stream is not read.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    return queue.on('error', (error) => this.outage.trouble(error, `queue ${name}`));
  }

  /** Nest's module holds the class of workers in a static field, and creates the workers in this call. */
  private register(): void {
    this.isRegistered = true;
    BullModule.workerClass = workersOf(this);
    this.registrar.register();
  }

  /** Returns whether `work` succeeded within the command timeout. A failure is logged, not thrown. */
  private async succeeds(work: Promise<unknown>, what: string): Promise<boolean> {
    const answered = work.then(
      () => true,
      (error: unknown) => {
        this.outage.trouble(error, what);
        return false;
      },
    );
    if (await settlesWithin(answered, this.settings.QUEUE_COMMAND_TIMEOUT_MS)) return answered;
    this.outage.trouble(new Error('no answer within the command timeout'), what);
    return false;
  }

  /** Returns the server's answer, or `otherwise` if it fails or exceeds the command timeout. */
  private async inTime<Answer, Otherwise>(
    pending: Promise<Answer>,
    otherwise: Otherwise,
  ): Promise<Answer | Otherwise> {
    const answer = pending.catch(() => otherwise);
    return (await settlesWithin(answer, this.settings.QUEUE_COMMAND_TIMEOUT_MS)) ? answer : otherwise;
  }

  /** A job that already exists stays unchanged. */
  private add(name: QueueName, runs: readonly QueuedRun[]): Promise<boolean> {
    const queue = this.byName[name];
    const nowMs = Date.now();
    const jobs = runs.map(({ provider, runId, delayMs = 0 }) => ({
      name: provider,
      data: { dueAtMs: nowMs + delayMs } satisfies JobData,
      opts: { jobId: runId, delay: delayMs },
    }));
    const adding =
      jobs.length >= minBulkJobs
        ? queue.addBulk(jobs)
        : Promise.all(jobs.map((job) => queue.add(job.name, job.data, job.opts)));
    return this.succeeds(adding, 'could not enqueue runs, leaving them to the reconciler');
  }
}
