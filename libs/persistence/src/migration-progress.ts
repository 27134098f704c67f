import { every } from '#observability';
import type { QueryRunner } from 'typeorm';
import type { Queryable } from './pools.js';
import { isLockError } from './sql-errors.js';

const reportMs = 5_000;

/** Learns what `migrate` does while it works. */
export interface MigrationObserver {
  /** Runs statements on other connections than that of the migration. */
  database: Queryable;
  report: (line: string) => void;
}

interface Watched {
  name: string;
  tables: readonly string[];
}

/** Reports the begin and the end of each migration and, every five seconds, the sessions that it waits for. */
export class MigrationProgress {
  private name: string | undefined;
  private startedMs = 0;
  private reportedMs = 0;

  constructor(private readonly observer: MigrationObserver) {}

  /** Calls `work`. A migration that did not get a lock is tried again, which is not a new begin. */
  async watch(migration: Watched, runner: QueryRunner, work: () => Promise<void>): Promise<void> {
    const { name, tables } = migration;
    if (this.name !== name) await this.begin(migration);
    const [session] = (await runner.query('SELECT pg_backend_pid() AS pid')) as { pid: number }[];
    const waits = every(reportMs, () => this.reportBlocking(session?.pid), { onError: () => {} });
    try {
      await work();
    } catch (error) {
      if (isLockError(error)) await this.reportHolders(tables);
      throw error;
    } finally {
      await waits.stop();
    }
    this.report(`${name} took ${this.seconds}`);
  }

  private async begin({ name, tables }: Watched): Promise<void> {
    this.name = name;
    this.startedMs = performance.now();
    const rows = await rowsOf(tables, this.observer.database);
    this.report(`${name} begins: ${tablesText(tables, rows)}`);
  }

  /** The sessions that a statement waits for, such as old transactions while an index is built concurrently. */
  private async reportBlocking(pid: number | undefined): Promise<void> {
    const text = 'SELECT unnest(pg_blocking_pids($1)) AS pid';
    this.reportWait(await this.observer.database.query<{ pid: number }>(text, [pid]));
  }

  /** The sessions with locks on the tables, after a migration has given up waiting for one. */
  private async reportHolders(tables: readonly string[]): Promise<void> {
    if (performance.now() - this.reportedMs < reportMs) return;
    const text = `SELECT DISTINCT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation
      WHERE relname = ANY ($1) AND granted AND pid <> pg_backend_pid() ORDER BY pid`;
    this.reportWait(await this.observer.database.query<{ pid: number }>(text, [tables]));
  }

  private reportWait(sessions: readonly { pid: number }[]): void {
    if (sessions.length === 0) return;
    const pids = sessions.map(({ pid }) => pid).join(', ');
    this.report(`${this.name} has taken ${this.seconds} and waits for the transactions of pid ${pids}`);
  }

  private get seconds(): string {
    return `${((performance.now() - this.startedMs) / 1000).toFixed(1)} s`;
  }

  private report(line: string): void {
    this.reportedMs = performance.now();
    this.observer.report(line);
  }
}

/** The estimated numbers of rows of tables, with those of their partitions. */
export async function rowsOf(
  tables: readonly string[],
  database: Queryable,
): Promise<ReadonlyMap<string, number>> {
  const found = await database.query<{ name: string; rows: number }>(
    `SELECT whole.relname AS name, sum(greatest(part.reltuples, 0))::float AS rows
      FROM pg_class AS whole
        CROSS JOIN LATERAL (SELECT whole.oid AS id UNION SELECT relid FROM pg_partition_tree(whole.oid)) AS parts
        JOIN pg_class AS part ON part.oid = parts.id AND part.relkind = 'r'
      WHERE whole.relname = ANY ($1) AND whole.relnamespace = current_schema()::regnamespace GROUP BY 1`,
    [tables],
  );
  return new Map(found.map(({ name, rows }) => [name, rows]));
}

const tablesText = (tables: readonly string[], rows: ReadonlyMap<string, number>): string =>
  tables.map((table) => `${table} (about ${rows.get(table) ?? 0} rows)`).join(', ') || 'no table';
