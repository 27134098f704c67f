import { type Log, OutageLog, settlesWithin } from '#observability';
import { BoundedPool } from './postgres-connections.js';
import { PostgresListener } from './postgres-listener.js';
import { type QueuedRun, RunQueues } from './run-queues.js';
import { PostgresStreams } from './postgres-streams.js';
import { RunSignals } from './run-signals.js';
import type { QueueSettings } from './settings.js';
import { Gathered, type WakeUpListener } from './wake-ups.js';

/** One connection for signals and one for wake-ups, which pieces of event streams share. */
const maxConnections = 2;
const shutMs = 500;

const channels = { signal: 'mr_run', wakeUp: 'mr_wake', dueRow: 'mr_due', piece: 'mr_stream' } as const;
type Channel = (typeof channels)[keyof typeof channels];

/**
 * Used without Redis. There are no jobs; workers take the rows that are due. A worker tells its own reader of
 * rows when a row is due. NOTIFY tells all workers about rows that other processes made due, and gateways
 * about runs that have changed.
 */
export class PostgresQueues extends RunQueues {
  readonly kind = 'postgres';
  readonly all = [];
  readonly isStuck = false;
  readonly signals: RunSignals;
  readonly streams: PostgresStreams;
  private readonly outage: OutageLog;
  private readonly pool: BoundedPool;
  private readonly streamSignals: RunSignals;
  private readonly notices = {
    wakeUp: new Gathered((providers) => this.notify(channels.wakeUp, providers)),
    dueRow: new Gathered((queues) => this.notify(channels.dueRow, queues)),
    signal: new Gathered((runIds) => this.notify(channels.signal, runIds)),
  };
  private notifyReader: ((afterMs: number) => void) | undefined;
  private isClosed = false;

  constructor(
    settings: QueueSettings,
    private readonly url: string,
    log: Log,
  ) {
    super();
    this.outage = new OutageLog(log, 'the database as transport', {
      consequence: 'runs wait in their rows',
    });
    this.pool = new BoundedPool(
      url,
      maxConnections,
      settings.QUEUE_COMMAND_TIMEOUT_MS,
      'model-router notices',
    );
    this.signals = new PostgresSignals(
      (callback, connected) => this.listen(channels.signal, callback, connected),
      this.notices.signal,
    );
    this.streamSignals = new PostgresSignals((callback, connected) =>
      this.listen(channels.piece, callback, connected),
    );
    this.streams = new PostgresStreams(
      (text, values) => this.answered(text, values),
      settings.STREAM_KEPT_BYTES,
      this.streamSignals,
    );
  }

  wake(...providers: string[]): void {
    this.notices.wakeUp.add(providers);
  }

  /** Every worker receives every wake-up. */
  onWakeUp(callback: (provider: string) => void): WakeUpListener {
    return this.listen(channels.wakeUp, (provider) => this.isTaking && callback(provider));
  }

  onDueRow(callback: (afterMs: number) => void): WakeUpListener {
    this.notifyReader = callback;
    return this.listen(channels.dueRow, () => callback(0));
  }

  /** The rows hold everything, so every run counts as accepted. */
  async enqueue(runs: readonly QueuedRun[]): Promise<boolean[]> {
    if (this.notifyReader) for (const { delayMs = 0 } of runs) this.notifyReader(delayMs);
    else if (runs.some(({ delayMs = 0 }) => delayMs === 0)) this.notices.dueRow.add(['']);
    return runs.map(() => true);
  }

  async runNow(): Promise<void> {
    this.notices.dueRow.add(['']);
  }

  async stateOf(): Promise<null> {
    return null;
  }

  async counts(): Promise<[]> {
    return [];
  }

  async healthy(): Promise<boolean> {
    return !this.isClosed && this.sends('SELECT 1', []);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    await settlesWithin(Promise.all(Object.values(this.notices).map(({ sent }) => sent)), shutMs);
    this.isClosed = true;
    await Promise.all([this.signals.close(), this.streamSignals.close(), this.pool.shut()]);
  }

  private notify(channel: Channel, payloads: string[]): Promise<boolean> {
    return this.sends('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
      channel,
      payloads,
    ]);
  }

  /** A lost notification only causes a delay, because workers look at the rows once a second. */
  private async sends(text: string, values: unknown[]): Promise<boolean> {
    return (await this.answered(text, values)) !== null;
  }

  /** The rows; null if the database does not answer. */
  private async answered<Row>(text: string, values: readonly unknown[]): Promise<Row[] | null> {
    try {
      const { rows } = await this.pool.query(text, [...values]);
      this.outage.back();
      return rows as Row[];
    } catch (error) {
      this.lose(error);
      return null;
    }
  }

  private lose(error: unknown): void {
    if (!this.isClosed) this.outage.lost(error);
  }

  private listen(
    channel: Channel,
    callback: (payload: string) => void,
    connected: () => void = () => {},
  ): PostgresListener {
    return new PostgresListener({
      url: this.url,
      channel,
      heard: callback,
      connected: () => {
        this.outage.back();
        connected();
      },
      lost: (error) => this.lose(error),
    });
  }
}

/** One channel serves all runs, with the run id as payload, so that subscribing to a run costs nothing. */
class PostgresSignals extends RunSignals {
  private listener: PostgresListener | undefined;

  constructor(
    private readonly listen: (callback: (runId: string) => void, connected: () => void) => PostgresListener,
    /** Absent if a function of the database notifies. */
    private readonly notices?: Gathered,
  ) {
    super();
  }

  async publish(runId: string): Promise<void> {
    this.notices?.add([runId]);
  }

  async close(): Promise<void> {
    await this.listener?.close();
  }

  protected added(): void {
    this.listener ??= this.listen(
      (runId) => this.wake(runId),
      () => this.wakeAll(),
    );
  }

  protected removed(): void {}
}
