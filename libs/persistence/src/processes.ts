import { every, type PeriodicWork } from '#observability';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { hostname } from 'node:os';
import { Repository } from 'typeorm';
import { v7 } from 'uuid';
import type { Database } from './database.js';
import { DatabaseOutage } from './database-outage.js';
import { ProcessRow } from './entities/operations.entity.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';

/**
 * The name of this process. A gateway's listening session has it, so that the database knows at once when the process is
 * gone.
 */
export const processName = `model-router ${v7()}`;

const heartbeatMs = 30_000;
/** A process without a heartbeat for this long counts as stopped. */
const maxSilenceSeconds = 100;
const aliveSince = `router_now() - interval '${maxSilenceSeconds} seconds'`;

interface ProcessState {
  /** The revision of its catalog. */
  revision: string;
  /** Why the catalog is not up to date. */
  problem?: string;
  /** Workers only: whether it has a key, by provider. */
  providers?: Record<string, boolean>;
  /** Workers only: the providers that the simulator serves. */
  simulated?: string[];
  /** Workers only: maximum number of concurrent submissions to one provider. */
  slots?: number;
}

export interface RunningProcess extends Pick<ProcessRow, 'host' | 'pid' | 'startedAt' | 'seenAt'> {
  app: 'gateway' | 'worker';
  /** The revision of its catalog. */
  revision: string;
  /** Why the catalog is not up to date. */
  problem: string | null;
}

/** The row of this process in the table of running processes. A failed write does not stop the process. */
@Injectable()
export class ProcessRecord implements OnModuleDestroy {
  private readonly id = v7();
  private state: ProcessState | undefined;
  private store: string | null = null;
  private heartbeat: PeriodicWork | undefined;
  private writing = Promise.resolve();

  constructor(
    @InjectRepository(ProcessRow) private readonly rows: Repository<ProcessRow>,
    @Inject(DATABASE_OPTIONS) private readonly options: Pick<DatabaseOptions, 'app'>,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  /** Writes the state now and every 30 seconds, until another state is reported or the process stops. */
  report(state: ProcessState): void {
    this.state = state;
    this.heartbeat ??= every(heartbeatMs, () => this.enqueueWrite(), { onError: () => {} });
    void this.enqueueWrite();
  }

  /** Writes the id of the asset store that the process sees. */
  async reportStore(id: string): Promise<void> {
    if (this.store === id) return;
    this.store = id;
    if (this.state !== undefined) await this.enqueueWrite();
  }

  /** The process that runs longest of those that have told their asset store. Undefined if none has. */
  async storeOfFirst(): Promise<{ app: string; host: string; store: string } | undefined> {
    const [first] = await this.rows.query(
      `SELECT app, host, store FROM process WHERE store IS NOT NULL AND seen_at > ${aliveSince} ORDER BY started_at, id LIMIT 1`,
    );
    return first;
  }

  async onModuleDestroy(): Promise<void> {
    await this.heartbeat?.stop();
    await this.writing;
    if (this.state === undefined) return;
    await this.rows.update(this.id, { seenAt: () => `'-infinity'` }).catch(() => {});
    await this.forgetSilent().catch(() => {});
  }

  /** Writes one after the other, so that the last reported state is the one that stays. */
  private enqueueWrite(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const {
      revision = '',
      problem = null,
      providers = null,
      simulated = null,
      slots = null,
    } = this.state ?? {};
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
          simulated,
          slots,
          store: this.store,
          seenAt: () => 'router_now()',
        },
        ['id'],
      );
      await this.forgetSilent();
    } catch (error) {
      this.outage.warn({ error }, 'could not write the heartbeat of this process');
    }
  }

  /**
   * Deletes silent processes. While no worker is alive, the rows of the last workers stay, so that the list of
   * available providers does not change.
   */
  private async forgetSilent(): Promise<void> {
    await this.rows.query(`DELETE FROM process WHERE seen_at < ${aliveSince} AND (providers IS NULL
      OR EXISTS (SELECT FROM process AS other WHERE other.providers IS NOT NULL AND other.seen_at > ${aliveSince}))`);
  }
}

/** The facts that workers report about a provider. */
export interface ProviderKey {
  provider: string;
  hasKey: boolean;
  /** Whether the simulator serves it to a worker. */
  simulated: boolean;
  /** The maximum number of concurrent submissions of the workers that have its key. */
  slots: number;
}

/**
 * For each provider: whether a worker has its key, whether the simulator serves it, and the maximum number of
 * concurrent submissions of the workers that have its key. It counts the live workers, or, for the key and the simulator, the last ones if none is alive. Empty until a worker has
 * reported.
 */
export async function providerKeys(database: Database): Promise<ProviderKey[]> {
  return database.reads.query(
    `WITH worker AS (
        SELECT providers, simulated, slots, seen_at > ${aliveSince} AS alive FROM process WHERE providers IS NOT NULL
      )
      SELECT key AS provider, bool_or(value::boolean) AS "hasKey",
        coalesce(bool_or(key = ANY (simulated)), false) AS simulated,
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
