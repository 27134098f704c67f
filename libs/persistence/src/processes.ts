import { LOG, type Log } from '#observability';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { hostname } from 'node:os';
import { v7 } from 'uuid';
import { Database } from './database.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';

const sayEveryMs = 30_000;
/** A process that has been silent for so long is gone, or as good as gone. */
const silentSeconds = 100;

/** What a process says about the catalog that it runs on. */
interface Saying {
  revision: string;
  problem?: string;
}

export interface RunningProcess extends Saying {
  app: string;
  host: string;
  pid: number;
  startedAt: Date;
}

/** One process's line in the table of those that run. The process works on when it cannot be written. */
@Injectable()
export class ProcessRecord implements OnModuleDestroy {
  private readonly id = v7();
  private saying: Saying | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();

  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) private readonly options: Pick<DatabaseOptions, 'app'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** Says it now and again every half minute, until something else is to be said or the process stops. */
  say(saying: Saying): void {
    this.saying = saying;
    this.timer ??= setInterval(() => this.writeInTurn(), sayEveryMs).unref();
    this.writeInTurn();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    if (this.saying === undefined) return;
    await this.writing;
    await this.database
      .write({ name: 'process_gone', text: 'DELETE FROM process WHERE id = $1' }, [this.id])
      .catch(() => []);
  }

  /** What was said last stands last. */
  private writeInTurn(): void {
    this.writing = this.writing.then(() => this.write());
  }

  private async write(): Promise<void> {
    if (this.saying === undefined) return;
    const { revision, problem } = this.saying;
    try {
      await this.database.write(
        {
          name: 'process_says',
          text: `WITH gone AS (
              DELETE FROM process WHERE seen_at < router_now() - make_interval(secs => $7)
            )
            INSERT INTO process (id, app, host, pid, catalog_revision, catalog_problem)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET catalog_revision = excluded.catalog_revision,
              catalog_problem = excluded.catalog_problem, seen_at = router_now()`,
        },
        [this.id, this.options.app, hostname(), process.pid, revision, problem ?? null, silentSeconds],
      );
    } catch (error) {
      this.log.warn({ error }, 'this process could not say what it runs on');
    }
  }
}

/** Those that have said something lately. */
export async function runningProcesses(database: Database): Promise<RunningProcess[]> {
  const rows = await database.read<{
    app: string;
    host: string;
    pid: number;
    started_at: Date;
    catalog_revision: string;
    catalog_problem: string | null;
  }>(
    {
      name: 'running_processes',
      text: `SELECT app, host, pid, started_at, catalog_revision, catalog_problem FROM process
        WHERE seen_at > router_now() - make_interval(secs => $1) ORDER BY app, started_at, id`,
    },
    [silentSeconds],
  );
  return rows.map((row) => ({
    app: row.app,
    host: row.host,
    pid: row.pid,
    startedAt: row.started_at,
    revision: row.catalog_revision,
    ...(row.catalog_problem !== null && { problem: row.catalog_problem }),
  }));
}
