import type { Log, Metrics } from '#observability';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPostgresBackend, runMigrations } from 'bullmq';
import { BoundedPool, Session } from './postgres-connections.js';
import { PostgresListener } from './postgres-listener.js';
import { QueueBackend, type WorkerConnection } from './queue-backend.js';
import { reconnectDelayMs } from './redis-connections.js';
import { RunSignals } from './run-signals.js';
import type { QueueSettings } from './settings.js';
import { Gathered, type WakeUpListener, type WakeUps } from './wake-ups.js';

/** All producers of the process share two connections; each worker has two and one that listens. */
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 3;
const WORKER_TIMEOUT_MS = 5_000;
const PROBE_MS = 1_000;

/** BullMQ's own Postgres backend: nothing to install beside the database, at a multiple of the cost of Redis. */
export class PostgresBackend extends QueueBackend {
  readonly kind = 'postgres';
  readonly signals: PostgresSignals;
  readonly wakeUps: PostgresWakeUps;
  /** Resolves once BullMQ's tables are there, or when the process closes before. */
  readonly migrated: Promise<void>;
  protected readonly factory = createBackend as never;
  readonly producer: BoundedPool;
  private readonly leaving = new AbortController();
  private hasTables = false;
  private probing = false;

  constructor(
    settings: QueueSettings,
    private readonly url: string,
    log: Log,
    metrics: Metrics,
  ) {
    super(settings, log, metrics, 'the database as queue');
    this.migrated = this.migrate();
    const { QUEUE_COMMAND_TIMEOUT_MS: maxMs } = settings;
    const name = 'model-router producer';
    this.producer = new BoundedPool(url, PRODUCER_CONNECTIONS, maxMs, name, this.migrated);
    this.signals = new PostgresSignals(this, url);
    this.wakeUps = new PostgresWakeUps(this, url);
  }

  get isUp(): boolean {
    return this.hasTables && !this.closing;
  }

  connectWorker(queue: string): WorkerConnection {
    const name = `model-router ${queue}`;
    const client = new BoundedPool(this.url, WORKER_CONNECTIONS, WORKER_TIMEOUT_MS, name, this.migrated);
    return { client, isConnected: () => this.hasTables, end: () => client.shut() };
  }

  protected write(): Promise<unknown> {
    return this.producer.query('SELECT 1');
  }

  /** A failure is taken as a sign that the server is away, until a probe says otherwise. */
  protected override failed(error: unknown): void {
    this.lost(error);
  }

  protected async shut(): Promise<void> {
    this.leaving.abort();
    await Promise.all([this.signals.close(), this.producer.shut()]);
  }

  private async migrate(): Promise<void> {
    const { signal } = this.leaving;
    for (let attempt = 1; !signal.aborted && !this.hasTables; attempt += 1) {
      const session = new Session(this.url, 'model-router queue migrations');
      try {
        await session.connect();
        await runMigrations(session);
        this.hasTables = true;
        this.outage.back();
      } catch (error) {
        this.outage.lost(error);
        await sleep(reconnectDelayMs(attempt), undefined, { signal }).catch(() => {});
      } finally {
        await session.shut();
      }
    }
  }

  lost(error: unknown): void {
    if (this.closing) return;
    this.outage.lost(error);
    void this.probe();
  }

  private async probe(): Promise<void> {
    if (this.probing) return;
    this.probing = true;
    const { signal } = this.leaving;
    let answered = false;
    while (!answered && !signal.aborted) {
      await sleep(PROBE_MS, undefined, { signal, ref: false }).catch(() => {});
      // A server without BullMQ's tables is of no use.
      const asked = this.producer.firstContact().then(() => this.producer.query('SELECT 1'));
      answered = await asked.then(
        () => true,
        () => false,
      );
    }
    if (answered) this.outage.back();
    this.probing = false;
  }
}

/** BullMQ's own remembers a failed first contact for ever: its queue would never take a job, nor its worker. */
function createBackend(...call: Parameters<typeof createPostgresBackend>) {
  const backend = createPostgresBackend(...call);
  const { connection } = backend;
  connection.waitUntilReady = () => (connection.pool as unknown as BoundedPool).firstContact();
  return backend;
}

const channel = 'mr_run';

/**
 * LISTEN and NOTIFY over one session, which the first subscriber opens. One channel serves all runs, with the run id
 * as payload: subscribing costs nothing then.
 */
class PostgresSignals extends RunSignals {
  private listener: PostgresListener | undefined;

  constructor(
    private readonly backend: PostgresBackend,
    private readonly url: string,
  ) {
    super();
  }

  async publish(runId: string): Promise<void> {
    const notified = this.backend.producer.query('SELECT pg_notify($1, $2)', [channel, runId]);
    await this.backend.succeeds(notified, 'a signal was not sent');
  }

  async close(): Promise<void> {
    await this.listener?.close();
  }

  protected added(): void {
    this.listener ??= new PostgresListener({
      url: this.url,
      channel,
      heard: (runId) => this.wake(runId),
      connected: () => this.wakeAll(),
      lost: (error) => this.backend.lost(error),
    });
  }

  protected removed(): void {}
}

const wakeUpChannel = 'mr_wake';

/** Every worker hears every wake-up. */
class PostgresWakeUps implements WakeUps {
  private readonly gathered = new Gathered((providers) =>
    this.backend.succeeds(
      this.backend.producer.query('SELECT pg_notify($1, provider) FROM unnest($2::text[]) AS provider', [
        wakeUpChannel,
        providers,
      ]),
      'a wake-up was not sent',
    ),
  );

  constructor(
    private readonly backend: PostgresBackend,
    private readonly url: string,
  ) {}

  wake(providers: Iterable<string>): void {
    if (this.backend.isUp) this.gathered.add(providers);
  }

  listen(heard: (provider: string) => void): WakeUpListener {
    let isPaused = false;
    const listener = new PostgresListener({
      url: this.url,
      channel: wakeUpChannel,
      heard: (provider) => isPaused || heard(provider),
      connected: () => {},
      lost: (error) => this.backend.lost(error),
    });
    return {
      pause: () => (isPaused = true),
      resume: () => (isPaused = false),
      close: () => listener.close(),
    };
  }
}
