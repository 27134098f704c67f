import { RouterError } from '#errors';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { ApiKey } from './entities/api-key.entity.js';
import { Workspace } from './entities/workspace.entity.js';
import { Foundation1763700000000 } from './migrations/1763700000000-foundation.js';
import { ProviderPause1763700600000 } from './migrations/1763700600000-provider-pause.js';
import { Registry1763800000000 } from './migrations/1763800000000-registry.js';
import { Processes1763900000000 } from './migrations/1763900000000-processes.js';

interface DatabaseOptions {
  DATABASE_URL: string;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_POOL: number;
  DATABASE_READ_POOL: number;
  DATABASE_REGISTRY_POOL: number;
  DATABASE_ACQUIRE_MS: number;
  DATABASE_STATEMENT_MS: number;
}

const bootConnectMs = 10_000;

/** A statement with a name is prepared once a connection. */
interface Statement {
  name: string;
  text: string;
}

/** A statement whose text depends on what is asked: it is planned for its values, each time. */
interface Query {
  text: string;
  values: unknown[];
}

/** Serialization failure, deadlock, two writers of one row: the statement changed nothing and may simply run again. */
const repeatable = new Set(['40001', '40P01', '23505']);
/** What a pooler, or a server in a crash, says of a statement whose fate it does not know: classes 08 and 57P02. */
const unknowing = /^(08|57P02)/;
/** Trouble that passes: SQLSTATE classes 08, 53, 57, 58 (connection, resources, shutdown or timeout, disk), a primary that became a standby, and none at all. */
const passing = /^(08|40|53|57|58|25006)/;

const persistentPauseMs = 250;

/** The statement was sent and its answer was lost: it was carried out, was not, or still is. */
export class AnswerLost extends RouterError {}

/**
 * The connections to Postgres. `work` serves admission and the run's life, `reads` is kept for status and
 * collect, `registry` for the list of nodes, which anybody may ask for. Every wait is bounded: for a connection, for the server, and for an answer that never comes.
 */
export class Database {
  private readonly work: Pool;
  private readonly reads: Pool;
  private readonly registry: Pool;
  private closed = false;

  constructor(private readonly options: DatabaseOptions) {
    const common = {
      connectionString: options.DATABASE_URL,
      connectionTimeoutMillis: options.DATABASE_ACQUIRE_MS,
      statement_timeout: options.DATABASE_STATEMENT_MS,
      query_timeout: options.DATABASE_STATEMENT_MS + 1000,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    };
    this.work = new Pool({ ...common, max: options.DATABASE_POOL });
    this.reads = new Pool({ ...common, max: options.DATABASE_READ_POOL });
    this.registry = new Pool({ ...common, max: options.DATABASE_REGISTRY_POOL });
    // A pooled connection that dies while idle is replaced at the next query; without a listener it would end the process.
    for (const pool of Object.values(this.byName())) {
      pool.on('error', () => {});
      // The same goes for one that dies while it is lent: its query fails, which is told to whoever asked.
      pool.on('connect', (client) => client.on('error', () => {}));
    }
  }

  /** Longest wait for a connection. */
  get acquireMs(): number {
    return this.options.DATABASE_ACQUIRE_MS;
  }

  /** Runs one prepared statement that may write. */
  async write<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return askFrom<Row>(this.work, { ...statement, values });
  }

  /**
   * Repeats a statement for up to `patienceMs` while the database is away. Only for a statement that may run
   * twice, and whose loss would cost more than the wait.
   */
  async persist<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    patienceMs: number,
  ): Promise<Row[]> {
    const lastMs = performance.now() + patienceMs;
    for (;;) {
      try {
        return await this.write<Row>(statement, values);
      } catch (error) {
        if (!isUnavailable(error) || this.closed || performance.now() > lastMs) throw error;
        await pause(persistentPauseMs);
      }
    }
  }

  /** Runs one prepared statement on the connections kept for readers. */
  async read<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return askFrom<Row>(this.reads, { ...statement, values });
  }

  /** Reads the node registry. */
  async list<Row extends QueryResultRow>(query: Query): Promise<Row[]> {
    return askFrom<Row>(this.registry, query);
  }

  /** Lends one connection whose reads all see the registry as it was at the first of them. */
  async listAtOnce<Result>(
    use: (list: <Row extends QueryResultRow>(query: Query) => Promise<Row[]>) => Promise<Result>,
  ): Promise<Result> {
    const client = await this.registry.connect().catch((error: unknown) => refused(error));
    let broken: Error | undefined;
    try {
      await ask(client, { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] });
      const result = await use((query) => ask(client, query));
      await ask(client, { text: 'COMMIT', values: [] });
      return result;
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      // A connection in the middle of something is not for the next reader.
      client.release(broken);
    }
  }

  /** For operators' commands and migrations; the caller destroys it. */
  async openDataSource(): Promise<DataSource> {
    return new DataSource({
      type: 'postgres',
      url: this.options.DATABASE_DIRECT_URL ?? this.options.DATABASE_URL,
      entities: [Workspace, ApiKey],
      migrations: [
        Foundation1763700000000,
        ProviderPause1763700600000,
        Registry1763800000000,
        Processes1763900000000,
      ],
      migrationsTransactionMode: 'each',
      synchronize: false,
      poolSize: 2,
      // An operator's command and a start may wait longer than a caller's request.
      connectTimeoutMS: Math.max(bootConnectMs, this.options.DATABASE_ACQUIRE_MS),
    }).initialize();
  }

  /** How the pools are doing now. */
  pools(): { pool: string; busy: number; idle: number; waiting: number }[] {
    return Object.entries(this.byName()).map(([pool, state]) => ({
      pool,
      busy: state.totalCount - state.idleCount,
      idle: state.idleCount,
      waiting: state.waitingCount,
    }));
  }

  async healthy(): Promise<boolean> {
    try {
      await this.read({ name: 'healthy', text: 'SELECT 1' }, []);
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(Object.values(this.byName()).map((pool) => pool.end()));
  }

  private byName(): Record<string, Pool> {
    return { work: this.work, read: this.reads, registry: this.registry };
  }
}

/** Asks on a connection of its own. What fails before there is one was never sent. */
async function askFrom<Row extends QueryResultRow>(
  pool: Pool,
  query: Query & Partial<Statement>,
): Promise<Row[]> {
  const client = await pool.connect().catch((error: unknown) => refused(error));
  let failed = true;
  try {
    const rows = await ask<Row>(client, query);
    failed = false;
    return rows;
  } finally {
    client.release(failed);
  }
}

async function ask<Row extends QueryResultRow>(
  on: Pick<PoolClient, 'query'>,
  query: Query & Partial<Statement>,
): Promise<Row[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await on.query<Row>(query)).rows;
    } catch (error) {
      const code = sqlState(error);
      if (code !== undefined && repeatable.has(code) && attempt < 5) continue;
      return refused(error, code === undefined || unknowing.test(code) ? AnswerLost : RouterError);
    }
  }
}

/** Trouble that passes is told to the caller as such; anything else stays what it is. */
function refused(error: unknown, Kind: typeof RouterError = RouterError): never {
  const code = sqlState(error);
  if (code !== undefined && !passing.test(code)) throw error;
  throw new Kind('service_unavailable', 'The service is temporarily unavailable; please retry.', {
    internal: `postgres: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof RouterError && error.bucket === 'service_unavailable';

function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
