import type { Metrics } from '#observability';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPostgresBackend, type Queue, runMigrations, withBackend } from 'bullmq';
import { reconnectDelayMs } from './backoff.js';
import { settlesWithin } from './bounded.js';
import { deliverInChunks, laneCounts } from './delivering.js';
import { BullWorker, type LaneOptions, LaneWorker } from './lane-worker.js';
import { OutageLog } from './outage-log.js';
import type { Consumer, Consumption, Delivery, LaneCounts, LaneKind, Log, Transport } from './port.js';
import { BoundedPool, endSession, PatientPool, session } from './postgres-connections.js';
import { PostgresSignals, RUN_CHANNEL } from './postgres-signals.js';
import type { QueueSettings } from './settings.js';

type PostgresQueue = ReturnType<typeof openQueue>;

const { Queue: PostgresBackedQueue } = withBackend(createPostgresBackend);

/** All producers of the process share two connections; each worker has two and one that listens. */
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 3;
const WORKER_TIMEOUT_MS = 5_000;
const PROBE_MS = 1_000;

/** Three lanes on BullMQ's Postgres backend; the provider is the job's name. */
export class PostgresTransport implements Transport {
  readonly kind = 'postgres';
  private readonly pool: BoundedPool;
  private readonly signals: PostgresSignals;
  private readonly outage: OutageLog;
  private readonly lanes = new Map<LaneKind, PostgresQueue>();
  private readonly workers = new Map<LaneKind, LaneWorker>();
  private readonly leaving = new AbortController();
  private readonly migrated: Promise<void>;
  private usable = false;
  private probing = false;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly settings: QueueSettings,
    private readonly url: string,
    private readonly log: Log,
    private readonly metrics?: Metrics,
  ) {
    this.outage = new OutageLog(log, 'the database as queue');
    const timeoutMs = settings.QUEUE_COMMAND_TIMEOUT_MS;
    this.pool = new BoundedPool(url, PRODUCER_CONNECTIONS, timeoutMs, 'model-router producer');
    this.signals = new PostgresSignals(url, (error) => this.lost(error));
    this.migrated = this.migrate();
  }

  /** Resolves once BullMQ's tables are there, at the latest when the transport closes. */
  ready(): Promise<void> {
    return this.migrated;
  }

  async deliver(items: readonly Delivery[]): Promise<boolean[]> {
    const withinMs = this.settings.QUEUE_COMMAND_TIMEOUT_MS;
    return deliverInChunks(items, withinMs, async (chunk) => {
      const refused = chunk.map(() => false);
      if (!this.usable || this.closing) return refused;
      const lanes = [...new Set(chunk.map((item) => item.lane))];
      const accepted = new Map<LaneKind, boolean>();
      await Promise.all(
        lanes.map(async (lane) => {
          const jobs = chunk.filter((item) => item.lane === lane).map(toJob);
          accepted.set(lane, await this.bounded(this.queue(lane).addBulk(jobs)));
        }),
      );
      return chunk.map((item) => accepted.get(item.lane) ?? false);
    });
  }

  async hasten(lane: LaneKind, _provider: string, runId: string): Promise<void> {
    if (!this.usable) return;
    // It fails when the job is not delayed: then there is nothing to bring forward.
    const hastened = this.queue(lane).getBackend().changeDelay(runId, 0);
    await settlesWithin(hastened, this.settings.QUEUE_COMMAND_TIMEOUT_MS);
  }

  consume(consumption: Consumption): Consumer {
    const { lane } = consumption;
    const present = this.workers.get(lane);
    if (present && !present.stopped) return present.open(consumption);
    const worker = new LaneWorker({
      name: lane,
      lane,
      settings: this.settings,
      log: this.log,
      metrics: this.metrics,
      outage: this.outage,
      shared: lane === 'dispatch',
      ready: this.migrated,
      link: (process, options) => this.link(lane, process, options),
    });
    this.workers.set(lane, worker);
    return worker.open(consumption);
  }

  async announce(runId: string): Promise<void> {
    await this.bounded(this.pool.query('SELECT pg_notify($1, $2)', [RUN_CHANNEL, runId]));
  }

  listen(runId: string, wake: () => void): () => void {
    return this.signals.listen(runId, wake);
  }

  async counts(): Promise<LaneCounts[]> {
    if (!this.usable) return [];
    this.queues();
    const lanes = [...this.lanes].map(([lane, queue]) => ({ queue, lane, provider: null }));
    const counting = laneCounts(lanes);
    return (await settlesWithin(counting, this.settings.QUEUE_COMMAND_TIMEOUT_MS)) ? counting : [];
  }

  queues(): readonly Queue[] {
    if (this.usable) for (const lane of this.workers.keys()) this.queue(lane);
    return [...this.lanes.values()] as never;
  }

  async healthy(): Promise<boolean> {
    return this.usable && (await this.bounded(this.pool.query('SELECT 1')));
  }

  close(): Promise<void> {
    this.closing ??= this.shut();
    return this.closing;
  }

  private async shut(): Promise<void> {
    this.leaving.abort();
    await Promise.all([...this.workers.values()].map((worker) => worker.stop(0)));
    await settlesWithin(Promise.allSettled([...this.lanes.values()].map((queue) => queue.close())), 1_000);
    await Promise.all([this.signals.close(), this.pool.shut()]);
  }

  /** BullMQ remembers a failed first contact for ever, so nothing of it starts before this has succeeded. */
  private async migrate(): Promise<void> {
    const { signal } = this.leaving;
    for (let attempt = 1; !signal.aborted && !this.usable; attempt += 1) {
      const client = session(this.url, 'model-router queue migrations');
      try {
        await client.connect();
        await runMigrations(client);
        this.usable = true;
        this.outage.back();
      } catch (error) {
        this.outage.lost(error);
        await sleep(reconnectDelayMs(attempt), undefined, { signal }).catch(() => {});
      } finally {
        await endSession(client);
      }
    }
  }

  /** True when the work succeeded in time; a failure is taken as a sign that the server is away. */
  private async bounded(work: Promise<unknown>): Promise<boolean> {
    const answered = work.then(
      () => true,
      (error: unknown) => {
        this.lost(error);
        return false;
      },
    );
    if (await settlesWithin(answered, this.settings.QUEUE_COMMAND_TIMEOUT_MS)) return answered;
    this.lost(new Error('no answer in time'));
    return false;
  }

  private lost(error: unknown): void {
    if (this.closing) return;
    this.outage.lost(error);
    void this.probe();
  }

  private async probe(): Promise<void> {
    if (this.probing) return;
    this.probing = true;
    const { signal } = this.leaving;
    while (!signal.aborted) {
      await sleep(PROBE_MS, undefined, { signal, ref: false }).catch(() => {});
      const answered = await this.pool.query('SELECT 1').then(
        () => true,
        () => false,
      );
      if (!answered) continue;
      this.outage.back();
      break;
    }
    this.probing = false;
  }

  private queue(lane: LaneKind): PostgresQueue {
    const present = this.lanes.get(lane);
    if (present) return present;
    const queue = openQueue(lane, this.pool);
    queue.on('error', (error) => this.outage.trouble(error, `queue of ${lane}`));
    queue.waitUntilReady().catch(() => this.lanes.delete(lane));
    this.lanes.set(lane, queue);
    return queue;
  }

  private link(lane: LaneKind, ...[process, options]: Parameters<LaneOptions['link']>) {
    const pool = new PatientPool(this.url, WORKER_CONNECTIONS, WORKER_TIMEOUT_MS, `model-router ${lane}`);
    const worker = new BullWorker(
      lane,
      process,
      { ...options, connection: pool },
      createPostgresBackend as never,
    );
    worker.on('error', (error) => {
      if (isAbsence(error)) this.lost(error);
    });
    return { worker, connected: () => true, end: () => pool.shut() };
  }
}

function openQueue(lane: LaneKind, pool: BoundedPool) {
  return new PostgresBackedQueue<object, void>(lane, {
    connection: pool,
    // Nobody reads the event stream.
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
}

function toJob(item: Delivery) {
  return { name: item.provider, data: {}, opts: { jobId: item.runId, delay: item.afterMs } };
}

/** Refused or broken connections and a server that starts or stops, as opposed to a query that is wrong. */
function isAbsence(error: Error & { code?: string }): boolean {
  return /^(ECONN|EPIPE|ETIMEDOUT|57P0)/.test(error.code ?? '') || /timeout|terminated/i.test(error.message);
}
