import { every, LOG, type Log, type PeriodicWork } from '#observability';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { hostname } from 'node:os';
import { Repository } from 'typeorm';
import { v7 } from 'uuid';
import type { Database } from './database.js';
import { ProcessRow } from './entities/operations.entity.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';

const heartbeatMs = 30_000;
/** A process without a heartbeat for so long is gone, or as good as gone. */
const maxSilenceSeconds = 100;
const aliveSince = `router_now() - interval '${maxSilenceSeconds} seconds'`;

interface ProcessState {
  /** The revision of its catalog, and its problem. */
  revision: string;
  problem?: string;
  /** Whether a worker has a key, by provider. */
  providers?: Record<string, boolean>;
  /** The number of submissions that a worker makes to one provider at once. */
  slots?: number;
}

export interface RunningProcess extends Pick<ProcessRow, 'host' | 'pid' | 'startedAt' | 'seenAt'> {
  app: 'gateway' | 'worker';
  /** The revision of its catalog, and its problem. */
  revision: string;
  problem: string | null;
}

/** One process's row in the table of those that run. The process goes on when the row cannot be written. */
@Injectable()
export class ProcessRecord implements OnModuleDestroy {
  private readonly id = v7();
  private state: ProcessState | undefined;
  private heartbeat: PeriodicWork | undefined;
  private writing = Promise.resolve();

  constructor(
    @InjectRepository(ProcessRow) private readonly rows: Repository<ProcessRow>,
    @Inject(DATABASE_OPTIONS) private readonly options: Pick<DatabaseOptions, 'app'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** Writes it now and again every half minute, until something else is reported or the process stops. */
  report(state: ProcessState): void {
    this.state = state;
    this.heartbeat ??= every(heartbeatMs, () => this.enqueueWrite(), { onError: () => {} });
    void this.enqueueWrite();
  }

  async onModuleDestroy(): Promise<void> {
    await this.heartbeat?.stop();
    await this.writing;
    if (this.state === undefined) return;
    await this.rows.update(this.id, { seenAt: () => `'-infinity'` }).catch(() => {});
    await this.forgetSilent().catch(() => {});
  }

  /** One write after the other: what was reported last is what stands there. */
  private enqueueWrite(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const { revision = '', problem = null, providers = null, slots = null } = this.state ?? {};
    try {
      await this.rows.upsert(
        {
          id: this.id,
          app: this.options.app,
          host: hostname(),
          pid: process.pid,
          catalogRevision: revision,
          catalogProblem: problem,
          providers,
          slots,
          seenAt: () => 'router_now()',
        },
        ['id'],
      );
      await this.forgetSilent();
    } catch (error) {
      this.log.warn({ error }, 'the heartbeat of this process could not be written');
    }
  }

  /** The last workers stay while none is alive: what can be served does not change by their absence. */
  private async forgetSilent(): Promise<void> {
    await this.rows.query(`DELETE FROM process WHERE seen_at < ${aliveSince} AND (providers IS NULL
      OR EXISTS (SELECT FROM process AS other WHERE other.providers IS NOT NULL AND other.seen_at > ${aliveSince}))`);
  }
}

/**
 * Whether some worker has a key of the provider, and how many submissions those that have make at once: of the workers
 * alive, or of the last ones. Empty before a worker has ever reported.
 */
export async function providerKeys(
  database: Database,
): Promise<{ provider: string; hasKey: boolean; slots: number }[]> {
  return database.reads.query(
    `WITH worker AS (
        SELECT providers, slots, seen_at > ${aliveSince} AS alive FROM process WHERE providers IS NOT NULL
      )
      SELECT key AS provider, bool_or(value::boolean) AS "hasKey",
        coalesce(sum(slots) FILTER (WHERE alive AND value::boolean), 0)::integer AS slots
      FROM worker, jsonb_each(providers) WHERE alive OR NOT EXISTS (SELECT FROM worker WHERE alive) GROUP BY key`,
  );
}

/** The processes with a recent heartbeat. */
export async function runningProcesses(database: Database): Promise<RunningProcess[]> {
  return database.reads.query<RunningProcess>(
    `SELECT app, host, pid, started_at AS "startedAt", seen_at AS "seenAt", catalog_revision AS revision,
        catalog_problem AS problem
      FROM process WHERE seen_at > ${aliveSince} ORDER BY app, started_at, id`,
  );
}
