import { RouterError, StartupError } from '#errors';
import type { Turns } from '#observability';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { dataSourceOptions, isPooled, plannedOnce, poolOptions } from './data-source.js';
import { RoomWatch, roomProbe } from './room-watch.js';
import { listTurns } from './list-turns.js';
import { DATABASE_OPTIONS, type DatabaseSettings } from './settings.js';
import {
  ambiguousStates,
  AnswerLost,
  isUnavailable,
  retryableStates,
  sqlState,
  translated,
} from './sql-errors.js';

/** One without a name is planned for its values each time, as where its text depends on the request. */
interface Query {
  name?: string;
  text: string;
  values: unknown[];
}

/** The names of the statements that this process has prepared, by their texts: these are constants, or it would grow. */
const preparedNames = new Map<string, string>();

const retryPauseMs = 250;

/**
 * The connections to Postgres. The work pool, that of the data source, serves admission and every step of a run. Two more
 * pools stand beside it: `reads` for status and collect, which answer while admission is saturated, and `registry` for
 * the list of nodes, which anybody may request, and for lists of runs, which may take long. They are plain pools, not data sources: all that they run is SQL
 * text, and each data source would build the metadata of every entity again.
 */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  private readonly reads: Pool;
  private readonly registry: Pool;
  private readonly lists: Turns;
  private opening: Promise<DataSource> | undefined;
  private readonly room = new RoomWatch(() =>
    inTransaction(this.reads, 'BEGIN', (client) => queryClient(client, { text: roomProbe, values: [] }, 1)),
  );
  private closed = false;

  constructor(
    private readonly source: DataSource,
    @Inject(DATABASE_OPTIONS) private readonly settings: DatabaseSettings,
  ) {
    this.reads = this.pool(settings.DATABASE_READ_POOL, plannedOnce(settings));
    this.registry = this.pool(settings.DATABASE_REGISTRY_POOL, false);
    this.lists = listTurns(settings);
  }

  /** One without a Nest application around it, for commands and tests. It connects when it is first used. */
  static create(settings: DatabaseSettings): Database {
    return new this(new DataSource(dataSourceOptions(settings)), settings);
  }

  /** For operators' commands: past a pooler, since migrations hold session locks, and without a limit on statements. */
  static createForOperator(settings: DatabaseSettings): Database {
    return this.create({
      ...settings,
      DATABASE_URL: settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL,
      DATABASE_DIRECT_URL: undefined,
      DATABASE_STATEMENT_MS: 0,
    });
  }

  /**
   * Refuses a database whose statements outlive their callers: what became of a lost answer is known only because a
   * statement ends in time. Behind a pooler the limit is the role's.
   */
  async onModuleInit(): Promise<void> {
    if (!isPooled(this.settings)) return;
    const text = `SELECT setting::integer AS ms FROM pg_settings WHERE name = 'statement_timeout'`;
    const [limit] = await this.read<{ ms: number }>(text);
    const maxMs = this.settings.DATABASE_STATEMENT_MS;
    if (limit && limit.ms > 0 && limit.ms <= maxMs) return;
    throw new StartupError(
      `The pooler's sessions have no statement_timeout of ${maxMs} ms or less: run "ALTER ROLE … SET statement_timeout = ${maxMs}".`,
    );
  }

  /** The data source, open; `close` closes it. */
  async dataSource(): Promise<DataSource> {
    if (this.source.isInitialized) return this.source;
    this.opening ??= this.source.initialize().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** Longest wait for a connection. */
  get acquireMs(): number {
    return this.settings.DATABASE_ACQUIRE_MS;
  }

  /** Runs one statement that may write. It is prepared once a connection, except behind a pooler. */
  async write<Row extends object>(text: string, values?: unknown[]): Promise<Row[]> {
    const pool = await this.workPool();
    return queryPool<Row>(pool, this.prepared(text, values)).catch((error: unknown) => {
      this.room.note(error);
      throw error;
    });
  }

  /** Lends a database whose writes are done together or not at all. */
  async atOnce<Result>(use: (database: Database) => Promise<Result>): Promise<Result> {
    return inTransaction(await this.workPool(), 'BEGIN', (client) => {
      const write: Database['write'] = (text, values) => queryClient(client, this.prepared(text, values), 1);
      return use(Object.create(this, { write: { value: write } }) as Database);
    });
  }

  /**
   * Repeats a statement for up to `retryForMs` while the database is away. Only for a statement that may run
   * twice, and whose loss would cost more than the wait.
   */
  async persist<Row extends object>(text: string, values: unknown[], retryForMs: number): Promise<Row[]> {
    const lastMs = performance.now() + retryForMs;
    for (;;) {
      try {
        return await this.write<Row>(text, values);
      } catch (error) {
        if (!isUnavailable(error) || this.closed || performance.now() > lastMs) throw error;
        await pause(retryPauseMs);
      }
    }
  }

  /** The same on the connections kept for readers. */
  async read<Row extends object>(text: string, values?: unknown[]): Promise<Row[]> {
    return queryPool<Row>(this.reads, this.prepared(text, values));
  }

  /** Reads the node registry, on the connections that lists use too; one of them lists never take. */
  async readRegistry<Row extends object>(query: Query): Promise<Row[]> {
    return queryPool<Row>(this.registry, query);
  }

  /** Reads what may take longer than a run can wait: lists of runs, and of what they cost. Workspaces take turns. */
  async list<Row extends object>(workspaceId: string, query: Query): Promise<Row[]> {
    return this.lists.take(workspaceId, () => queryPool<Row>(this.registry, query));
  }

  /** Lends one connection whose reads all see the registry as it was at the first of them. */
  async listAtOnce<Result>(
    use: (list: <Row extends object>(query: Query) => Promise<Row[]>) => Promise<Result>,
  ): Promise<Result> {
    return inTransaction(this.registry, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', (client) =>
      use((query) => queryClient(client, query, 1)),
    );
  }

  /** How the pools are doing now. */
  pools(): { pool: string; busy: number; idle: number; waiting: number }[] {
    const { master } = this.source.driver as PostgresDriver;
    const work = this.source.isInitialized && { work: master as Pool };
    const named = { ...work, read: this.reads, registry: this.registry };
    return Object.entries(named).map(([pool, state]) => ({
      pool,
      busy: state.totalCount - state.idleCount,
      idle: state.idleCount,
      waiting: state.waitingCount,
    }));
  }

  async healthy(): Promise<boolean> {
    try {
      await this.read('SELECT 1', []);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Whether the database takes writes: a standby and one that was made read-only do not, nor does one whose disk is full.
   * Rejects like `read` while it is away.
   */
  async takesWrites(): Promise<boolean> {
    const [row] = await this.read<{ readOnly: string }>(
      `SELECT current_setting('transaction_read_only') AS "readOnly"`,
    );
    if (row?.readOnly === 'on') return false;
    return this.room.hasRoom();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await Promise.all([this.reads.end(), this.registry.end(), this.opening?.catch(() => {})]);
    if (this.source.isInitialized) await this.source.destroy();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private prepared(text: string, values: unknown[] = []): Query {
    if (isPooled(this.settings)) return { text, values };
    const name = preparedNames.get(text) ?? `s${preparedNames.size}`;
    preparedNames.set(text, name);
    return { name, text, values };
  }

  private pool(max: number, planning: ReturnType<typeof plannedOnce>): Pool {
    const pool = new Pool({
      ...poolOptions(this.settings),
      ...planning,
      connectionString: this.settings.DATABASE_URL,
      max,
    });
    // A connection that dies while it is idle is replaced at the next query.
    return pool.on('error', () => {});
  }

  private async workPool(): Promise<Pool> {
    if (this.closed) return translated(new Error('the connections of this process are closed'));
    if (!this.source.isInitialized) await this.dataSource().catch((error: unknown) => translated(error));
    const { master } = this.source.driver as PostgresDriver;
    const pool = master as Pool;
    // It was given more time for its first connection.
    pool.options.connectionTimeoutMillis = this.settings.DATABASE_ACQUIRE_MS;
    return pool;
  }
}

/** Queries on a connection of its own. What fails before there is one was never sent. */
async function queryPool<Row extends object>(pool: Pool, query: Query): Promise<Row[]> {
  const client = await pool.connect().catch((error: unknown) => translated(error));
  let failed = true;
  try {
    const rows = await queryClient<Row>(client, query);
    failed = false;
    return rows;
  } finally {
    client.release(failed);
  }
}

/** What fails before there is a connection was never sent. */
async function inTransaction<Result>(
  pool: Pool,
  begin: string,
  use: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => translated(error));
  let broken: Error | undefined;
  try {
    await queryClient(client, { text: begin, values: [] });
    const result = await use(client);
    await queryClient(client, { text: 'COMMIT', values: [] });
    return result;
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection in the middle of something is not for the next one.
    client.release(broken);
  }
}

/** Within a transaction there is one attempt: its failure ends what was begun. */
async function queryClient<Row extends object>(
  on: Pick<PoolClient, 'query'>,
  query: Query,
  attempts = 5,
): Promise<Row[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await on.query(query)).rows as Row[];
    } catch (error) {
      const code = sqlState(error);
      if (code !== undefined && retryableStates.has(code) && attempt < attempts) continue;
      return translated(error, code === undefined || ambiguousStates.test(code) ? AnswerLost : RouterError);
    }
  }
}
