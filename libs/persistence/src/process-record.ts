import { every, type PeriodicWork } from '#observability';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { hostname } from 'node:os';
import { Repository } from 'typeorm';
import { v7 } from 'uuid';
import { DatabaseOutage } from './database-outage.js';
import { ProcessRow } from './entities/operations.entity.js';
import { aliveSince } from './processes.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';

const heartbeatMs = 30_000;

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
