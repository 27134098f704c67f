import { RouterError, StartupError } from '#errors';
import { Turns } from '#observability';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { dataSourceOptions, minConnectMs } from './data-source.js';
import { type ConnectionPool, isPooled, Pools, type Queryable } from './pools.js';
import type { DatabaseSettings } from './settings.js';
import { isTooSlow, isUnavailable, translated } from './sql-errors.js';

/** A transaction. Its reads see its own earlier writes. */
export interface Transaction extends Queryable {
  /** TypeORM's entity manager within the same transaction. */
  manager: EntityManager;
}

/** The key for operators' lists, which take turns with the lists of workspaces. */
export const operators = 'operators';

const maxWaitingOfOne = 50;

const retryPauseMs = 250;
/** A statement that only ever times out is given up after this time, because the statements behind it wait for it. */
const maxSlowMs = 120_000;

/** The connections to Postgres: plain pools for SQL, and TypeORM on the work pool. */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  readonly work: ConnectionPool;
  readonly reads: ConnectionPool;
  readonly registry: ConnectionPool;
  private readonly lists: Turns;
  private opening: Promise<DataSource> | undefined;
  private closed = false;

  constructor(
    private readonly source: DataSource,
    private readonly pools: Pools,
  ) {
    this.work = pools.work;
    this.reads = pools.reads;
    this.registry = pools.registry;
    this.lists = listTurns(pools.settings);
  }

  /** Creates a database without a Nest application, for commands and tests. It connects on first use. */
  static create(settings: DatabaseSettings): Database {
    const pools = new Pools(settings);
    return new this(new DataSource(dataSourceOptions(pools)), pools);
  }

  /**
   * For operators' commands. Bypasses the pooler, because migrations hold session locks, and has no statement
   * timeout.
   */
  static createForOperator(settings: DatabaseSettings): Database {
    return this.create({
      ...settings,
      DATABASE_URL: settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL,
      DATABASE_DIRECT_URL: undefined,
      DATABASE_ACQUIRE_MS: Math.max(minConnectMs, settings.DATABASE_ACQUIRE_MS),
      DATABASE_STATEMENT_MS: 0,
    });
  }

  /**
   * Fails if the sessions behind a pooler have no suitable statement timeout. If the result of a statement is lost,
   * its outcome is known only once the statement must have ended, so it needs a timeout. Behind a pooler the role
   * sets it.
   */
  async onModuleInit(): Promise<void> {
    if (!isPooled(this.pools.settings)) return;
    const text = `SELECT setting::integer AS ms FROM pg_settings WHERE name = 'statement_timeout'`;
    const [limit] = await this.reads.query<{ ms: number }>(text);
    const maxMs = this.pools.settings.DATABASE_STATEMENT_MS;
    if (limit && limit.ms > 0 && limit.ms <= maxMs) return;
    throw new StartupError(
      `The sessions of the pooler need a statement_timeout of at most ${maxMs} ms. Run "ALTER ROLE … SET statement_timeout = ${maxMs}".`,
    );
  }

  /** Opens the data source, or returns the open one. `close` closes it. */
  async dataSource(): Promise<DataSource> {
    if (this.source.isInitialized) return this.source;
    this.opening ??= this.source.initialize().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /**
   * Whether runs also have BullMQ jobs. If so, an outbox row becomes due later than its job, as a fallback. Without
   * Redis there are no jobs.
   */
  get hasJobs(): boolean {
    return this.pools.settings.REDIS_URL !== undefined;
  }

  /** Maximum wait for a connection, in milliseconds. */
  get acquireMs(): number {
    return this.pools.settings.DATABASE_ACQUIRE_MS;
  }

  /**
   * Calls `use` with TypeORM's entity manager on one connection of the work pool. For simple, infrequent
   * statements.
   */
  async withManager<Result>(use: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.withRunner(({ manager }) => use(manager));
  }

  /** Calls `use` in one transaction on the work pool. */
  async transaction<Result>(use: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.withRunner((runner) =>
      runner.manager.transaction((manager) =>
        use({
          manager,
          query: async <Row extends object>(text: string, values?: unknown[]) =>
            (await runner.query(text, values, true)).records as Row[],
        }),
      ),
    );
  }

  /**
   * Retries a statement on the work pool while the database is down: for up to `retryForMs`, or as long as the process
   * lives. Only for statements that may run twice, and whose loss would cost more than the wait.
   */
  async persist<Row extends object>(text: string, values: unknown[], retryForMs = Infinity): Promise<Row[]> {
    const lastMs = performance.now() + retryForMs;
    let slowUntilMs = Infinity;
    for (;;) {
      try {
        return await this.work.query<Row>(text, values);
      } catch (error) {
        const nowMs = performance.now();
        slowUntilMs = isTooSlow(error) ? Math.min(slowUntilMs, nowMs + maxSlowMs) : Infinity;
        if (!isUnavailable(error) || this.closed || nowMs > Math.min(lastMs, slowUntilMs)) throw error;
        await pause(retryPauseMs);
      }
    }
  }

  /**
   * Runs queries that are too slow for the path of a run, such as lists of runs and usage. Workspaces take turns on
   * the connections of the node registry. One connection always stays free for the registry.
   */
  async list<Row extends object>(workspaceId: string, text: string, values: unknown[]): Promise<Row[]> {
    return this.lists.take(workspaceId, () => this.registry.queryUnprepared<Row>(text, values));
  }

  /** The current use of the pools. */
  usage(): { pool: string; busy: number; idle: number; waiting: number }[] {
    return [
      { pool: 'work', ...this.work.usage() },
      { pool: 'read', ...this.reads.usage() },
      { pool: 'registry', ...this.registry.usage() },
    ];
  }

  /**
   * The age of the oldest open transaction in seconds; 0 if there is none. The sessions of other roles count only if the
   * role of the app has pg_read_all_stats.
   */
  async oldestTransactionSeconds(): Promise<number> {
    const [row] = await this.reads.query<{ seconds: number }>(
      `SELECT greatest(0, coalesce(extract(epoch FROM router_now() - min(xact_start)), 0))::float AS seconds
        FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    return row?.seconds ?? 0;
  }

  async healthy(): Promise<boolean> {
    return this.reads.query('SELECT 1').then(
      () => true,
      () => false,
    );
  }

  /**
   * Whether the database accepts writes. It does not if it is a standby, read-only, or out of disk space. Rejects
   * while the database is down.
   */
  async takesWrites(): Promise<boolean> {
    const [row] = await this.reads.query<{ readOnly: string }>(
      `SELECT current_setting('transaction_read_only') AS "readOnly"`,
    );
    return row?.readOnly !== 'on' && this.pools.hasRoom();
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.opening?.catch(() => {});
    // The data source closes the work pool.
    const work = this.source.isInitialized ? this.source.destroy() : this.work.end();
    await Promise.all([work, this.reads.end(), this.registry.end()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private async withRunner<Result>(use: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    try {
      const source = await this.dataSource().catch((error: unknown) => translated(error));
      const runner = source.createQueryRunner();
      await runner.connect().catch((error: unknown) => translated(error));
      try {
        return await use(runner);
      } catch (error) {
        throw error instanceof QueryFailedError ? translated(error.driverError) : error;
      } finally {
        await runner.release();
      }
    } catch (error) {
      this.pools.outage.failed(error);
      throw error;
    }
  }
}

/** Lets workspaces take turns at reading lists. One connection always stays free for the node registry. */
function listTurns(settings: DatabaseSettings): Turns {
  const { DATABASE_REGISTRY_POOL, DATABASE_STATEMENT_MS, DATABASE_ACQUIRE_MS } = settings;
  return new Turns({
    max: DATABASE_REGISTRY_POOL - 1,
    maxOfOne: 1,
    maxWaitingOfOne,
    // Long enough for a slow list of another workspace to finish. Operators' commands have no statement timeout.
    maxWaitMs: DATABASE_STATEMENT_MS === 0 ? Infinity : DATABASE_STATEMENT_MS + DATABASE_ACQUIRE_MS,
    refusal: () =>
      new RouterError('service_unavailable', 'Too many lists are being read; retry later.', {
        internal: 'too many lists wait for their turn',
      }),
  });
}
