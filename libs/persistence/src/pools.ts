import { RouterError } from '#errors';
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { DatabaseOutage } from './database-outage.js';
import { DATABASE_OPTIONS, type DatabaseSettings } from './settings.js';
import { ambiguousStates, AnswerLost, retryableStates, sqlState, translated } from './sql-errors.js';

export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Learns how each statement ended. */
type Observer = Pick<DatabaseOutage, 'answered' | 'failed'>;

/** For commands and tests, which report failures themselves. */
const unobserved: Observer = { answered: () => {}, failed: () => {} };

/** Runs statements, each on any connection of a pool, or all within one transaction. */
export interface Queryable {
  query: Query;
}

/**
 * The pools of a process. Their connections are separate, so that the users of one pool cannot starve those of
 * another.
 */
@Injectable()
export class Pools {
  /** For admission and every step of a run. TypeORM's data source shares these connections. */
  readonly work: ConnectionPool;
  /** For status and collect, which must answer while admission is saturated. */
  readonly reads: ConnectionPool;
  /** For the public list of nodes, and for lists of runs, which may be slow. */
  readonly registry: ConnectionPool;
  /** Whether a write failed because the disk was full and no probe has found room since. */
  private lacksRoom = false;

  constructor(
    @Inject(DATABASE_OPTIONS) readonly settings: DatabaseSettings,
    @Inject(DatabaseOutage) readonly outage: Observer = unobserved,
  ) {
    const { DATABASE_POOL, DATABASE_READ_POOL, DATABASE_REGISTRY_POOL } = settings;
    const planning = plannedOnce(settings);
    const noticing: Observer = {
      answered: () => outage.answered(),
      failed: (error) => {
        this.lacksRoom ||= isDiskFull(error);
        outage.failed(error);
      },
    };
    this.work = new ConnectionPool(settings, { ...planning, max: DATABASE_POOL }, noticing);
    this.reads = new ConnectionPool(settings, { ...planning, max: DATABASE_READ_POOL }, outage);
    this.registry = new ConnectionPool(settings, { max: DATABASE_REGISTRY_POOL }, outage);
  }

  /** Whether the database has room for writes. The probe uses the read pool. */
  async hasRoom(): Promise<boolean> {
    // For a role that may not create tables, the probe finds nothing.
    if (this.lacksRoom) this.lacksRoom = await this.reads.query(roomProbe).then(() => false, isDiskFull);
    return !this.lacksRoom;
  }
}

/** Connections to Postgres. Each prepares a statement once, except behind a pooler. */
export class ConnectionPool implements Queryable {
  readonly pool: Pool;
  /**
   * The names of prepared statements by their text. The texts must be constants, or the map would grow without
   * bound.
   */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly settings: DatabaseSettings,
    options: PoolConfig,
    private readonly observer: Observer,
  ) {
    this.pool = new Pool({
      ...poolOptions(settings),
      ...options,
      connectionString: settings.DATABASE_URL,
    });
    // A connection that dies while idle is replaced on the next query.
    this.pool.on('error', () => {});
  }

  /** Runs one prepared statement. */
  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.withClient((client) => send<Row>(client, { ...this.named(text), text, values }));
  }

  /**
   * Runs one statement without preparing it, so that it is planned for its values. For texts that depend on the
   * request.
   */
  async queryUnprepared<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.withClient((client) => send<Row>(client, { text, values }));
  }

  /** Calls `use` with a connection whose reads all see the same snapshot. */
  async snapshot<Result>(use: (query: Query) => Promise<Result>): Promise<Result> {
    return this.withClient(async (client) => {
      // No retries, because a failure aborts the transaction.
      const query: Query = (text, values = []) => send(client, { text, values }, 1);
      await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const result = await use(query);
      await query('COMMIT');
      return result;
    });
  }

  usage(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async end(): Promise<void> {
    if (!this.pool.ending) await this.pool.end();
  }

  private async withClient<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    try {
      // If no connection is available, nothing was sent.
      const client = await this.pool.connect().catch((error: unknown) => translated(error));
      let isBroken = true;
      try {
        const result = await use(client);
        isBroken = false;
        this.observer.answered();
        return result;
      } finally {
        // Discard a connection that failed in the middle of its use.
        client.release(isBroken);
      }
    } catch (error) {
      this.observer.failed(error);
      throw error;
    }
  }

  private named(text: string): { name?: string } {
    if (isPooled(this.settings)) return {};
    const name = this.names.get(text) ?? `s${this.names.size}`;
    this.names.set(text, name);
    return { name };
  }
}

async function send<Row extends object>(
  client: PoolClient,
  query: QueryConfig,
  attempts = 5,
): Promise<Row[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await client.query(query)).rows as Row[];
    } catch (error) {
      const code = sqlState(error);
      if (code !== undefined && retryableStates.has(code) && attempt < attempts) continue;
      return translated(error, code === undefined || ambiguousStates.test(code) ? AnswerLost : RouterError);
    }
  }
}

/** Allocates new pages, because a full disk still has room for some writes in existing pages. */
const roomProbe = `CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT repeat('x', 4000) FROM generate_series(1, 250)`;

const isDiskFull = (error: unknown): boolean =>
  error instanceof RouterError && error.cause instanceof DatabaseError && error.cause.code === '53100';

/**
 * Whether `DATABASE_URL` points to a transaction pooler, where each transaction may use a different session.
 * Poolers reject startup parameters, and most do not support prepared statements.
 */
export const isPooled = ({ DATABASE_DIRECT_URL }: DatabaseSettings): boolean =>
  DATABASE_DIRECT_URL !== undefined;

/** Postgres' maximum statement timeout. Zero would leave the timeout to the role. */
const maxStatementMs = 2 ** 31 - 1;

/** Bounds every wait: for a connection, for the server, and for a reply that never comes. */
const poolOptions = (settings: DatabaseSettings) => ({
  connectionTimeoutMillis: settings.DATABASE_ACQUIRE_MS,
  ...(!isPooled(settings) && { statement_timeout: settings.DATABASE_STATEMENT_MS || maxStatementMs }),
  // Operators' statements have no timeout.
  query_timeout: settings.DATABASE_STATEMENT_MS === 0 ? 0 : settings.DATABASE_STATEMENT_MS + 1000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
  // When a connection dies, its query fails. Without a listener the error would also crash the process.
  onConnect: (client: NodeJS.EventEmitter) => void client.on('error', () => {}),
});

/**
 * For statements on runs. Planning one for tables with many partitions takes longer than running it, and the values
 * do not change the plan, so it is planned once per connection. Not behind a pooler, which rejects startup
 * parameters.
 */
const plannedOnce = (settings: DatabaseSettings) =>
  !isPooled(settings) && { options: '-c plan_cache_mode=force_generic_plan' };
