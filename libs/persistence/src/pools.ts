import { RouterError } from '#errors';
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { DATABASE_OPTIONS, type DatabaseSettings } from './settings.js';
import { ambiguousStates, AnswerLost, retryableStates, sqlState, translated } from './sql-errors.js';

export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Runs statements: each on some connection of a pool, or all within one transaction. */
export interface Queryable {
  query: Query;
}

/** The plain pools of a process. Each has connections of its own, so that its users take none from the others. */
@Injectable()
export class Pools {
  /** For admission and every step of a run. The data source uses these connections too. */
  readonly work: ConnectionPool;
  /** For status and collect, which answer while admission is saturated. */
  readonly reads: ConnectionPool;
  /** For the list of nodes, which anybody may request, and for lists of runs, which may take long. */
  readonly registry: ConnectionPool;
  /** A write was refused for a full disk, and no probe has found room since. */
  private lacksRoom = false;

  constructor(@Inject(DATABASE_OPTIONS) readonly settings: DatabaseSettings) {
    const { DATABASE_POOL, DATABASE_READ_POOL, DATABASE_REGISTRY_POOL } = settings;
    const planning = plannedOnce(settings);
    this.work = new ConnectionPool(settings, { ...planning, max: DATABASE_POOL }, (error) => {
      this.lacksRoom ||= isDiskFull(error);
    });
    this.reads = new ConnectionPool(settings, { ...planning, max: DATABASE_READ_POOL });
    this.registry = new ConnectionPool(settings, { max: DATABASE_REGISTRY_POOL });
  }

  /** Whether the database has room for writes; it is probed on a connection for readers. */
  async hasRoom(): Promise<boolean> {
    // A role that may not make tables learns nothing by the probe.
    if (this.lacksRoom) this.lacksRoom = await this.reads.query(roomProbe).then(() => false, isDiskFull);
    return !this.lacksRoom;
  }
}

/** Connections to Postgres, each of which prepares a statement once, except behind a pooler. */
export class ConnectionPool implements Queryable {
  readonly pool: Pool;
  /** The names of prepared statements by their texts. These are constants, or the map would grow. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly settings: DatabaseSettings,
    options: PoolConfig,
    private readonly onFailure: (error: unknown) => void = () => {},
  ) {
    this.pool = new Pool({
      ...poolOptions(settings),
      ...options,
      connectionString: settings.DATABASE_URL,
    });
    // A connection that dies while it is idle is replaced at the next query.
    this.pool.on('error', () => {});
  }

  /** Runs one prepared statement. */
  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.lend((client) => send<Row>(client, { ...this.named(text), text, values }));
  }

  /** Runs one statement that is planned for its values each time, as where its text depends on the request. */
  async queryUnprepared<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.lend((client) => send<Row>(client, { text, values }));
  }

  /** Lends one connection whose reads all see the database as it was at the first of them. */
  async snapshot<Result>(use: (query: Query) => Promise<Result>): Promise<Result> {
    return this.lend(async (client) => {
      // One attempt each: a failure ends the transaction.
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

  private async lend<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    // A failure to get a connection means that nothing was sent.
    const client = await this.pool.connect().catch((error: unknown) => translated(error));
    let isBroken = true;
    try {
      const result = await use(client);
      isBroken = false;
      return result;
    } catch (error) {
      this.onFailure(error);
      throw error;
    } finally {
      // A connection in the middle of something is not for the next user.
      client.release(isBroken);
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

/** It takes new pages: a disk that is full still has room for some writes, in pages that are there already. */
const roomProbe = `CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT repeat('x', 4000) FROM generate_series(1, 250)`;

const isDiskFull = (error: unknown): boolean =>
  error instanceof RouterError && error.cause instanceof DatabaseError && error.cause.code === '53100';

/**
 * Whether `DATABASE_URL` leads to a transaction pooler, where each transaction may have another session. Poolers refuse
 * start-up parameters, and most know nothing of prepared statements.
 */
export const isPooled = ({ DATABASE_DIRECT_URL }: DatabaseSettings): boolean =>
  DATABASE_DIRECT_URL !== undefined;

/** Postgres' largest limit of a statement. Zero would leave the limit to the role. */
const maxStatementMs = 2 ** 31 - 1;

/** Every wait is bounded: for a connection, for the server, and for an answer that never comes. */
const poolOptions = (settings: DatabaseSettings) => ({
  connectionTimeoutMillis: settings.DATABASE_ACQUIRE_MS,
  ...(!isPooled(settings) && { statement_timeout: settings.DATABASE_STATEMENT_MS || maxStatementMs }),
  // An operator's statements are not limited.
  query_timeout: settings.DATABASE_STATEMENT_MS === 0 ? 0 : settings.DATABASE_STATEMENT_MS + 1000,
  idleTimeoutMillis: 30_000,
  keepAlive: true,
  // When a connection dies, its query fails; without a listener the error would also end the process.
  onConnect: (client: NodeJS.EventEmitter) => void client.on('error', () => {}),
});

/**
 * For statements on runs. Planning one for tables of many partitions takes longer than running it, and its values make
 * no difference: it is planned once a connection. A pooler refuses start-up parameters.
 */
const plannedOnce = (settings: DatabaseSettings) =>
  !isPooled(settings) && { options: '-c plan_cache_mode=force_generic_plan' };
