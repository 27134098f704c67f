import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, Metrics, type PeriodicWork, withTimeout } from '#observability';
import { ClockSkew, DatabaseOutage, RetentionRepository, StoredObjectRepository } from '#persistence';
import { AssetStore } from '#storage';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { WorkerSettings } from '../settings.js';

/** A verb stops after this time and continues in the next round, so that every verb gets its turn. */
const verbMs = 10_000;

const deleteBatchSize = 100;
const deleteMs = 60_000;

/**
 * Ages out results, deletes objects from the store that no run needs, and maintains partitions and old rows.
 * Every worker does rounds and skips the rows that another worker is processing. No answer to a caller
 * depends on when a round runs.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;

  constructor(
    private readonly repository: RetentionRepository,
    private readonly store: AssetStore,
    private readonly objects: StoredObjectRepository,
    private readonly clock: ClockSkew,
    private readonly metrics: Metrics,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'RETENTION_EVERY_MS' | 'STORE_DOUBT_SECONDS'>,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  /** The first round starts at once, because a service that was down for days needs new partitions. */
  onApplicationBootstrap(): void {
    this.rounds = every(this.settings.RETENTION_EVERY_MS, (signal) => this.round(signal), {
      onError: (error) =>
        this.outage.warn({ error }, 'a round of retention failed, retrying in the next round'),
      immediately: true,
    });
  }

  /** Waits for the current statement, and aborts calls to the store at once. */
  async onModuleDestroy(): Promise<void> {
    await this.rounds?.stop();
  }

  private async round(signal: AbortSignal): Promise<void> {
    await this.each(signal, 'partitions', () => this.repository.ensurePartitions(), 'once');
    await this.each(signal, 'results of shorter periods', () => this.repository.eraseExpired());
    await this.each(signal, 'objects of expired results', () => this.repository.releaseObjects());
    await this.each(signal, 'finished days', () => this.dropDay());
    await this.each(signal, 'aged-out runs', () => this.repository.ageOut());
    await this.each(signal, 'stored objects', () => this.deleteDue(signal));
    await this.each(signal, 'stale uploads', () => this.abortStale(signal), 'once');
    // Audit records are added up before they are deleted.
    await this.each(signal, 'usage', () => this.repository.addUpUsage());
    for (const table of this.repository.sweptTables)
      await this.each(signal, `old rows of ${table}`, () => this.repository.deleteOld(table));
  }

  /** Repeats a verb until nothing is left. If it fails, the other verbs still get their turn. */
  private async each(
    signal: AbortSignal,
    what: string,
    batch: () => Promise<number>,
    times?: 'once',
  ): Promise<void> {
    const untilMs = performance.now() + verbMs;
    try {
      while (!signal.aborted && performance.now() < untilMs) {
        if ((await batch()) === 0 || times === 'once') return;
      }
    } catch (error) {
      this.metrics.retentionFailures.inc({ step: what });
      this.outage.warn({ error, what }, 'a step of retention failed, retrying in the next round');
    }
  }

  private async dropDay(): Promise<number> {
    const day = await this.repository.dropDay();
    if (day === null) return 0;
    this.log.info({ day }, 'dropped a day of finished runs');
    return 1;
  }

  /** Deletes one batch and returns its size. After a failure the objects are left for a later round. */
  private async deleteDue(signal: AbortSignal): Promise<number> {
    const keys = await this.objects.takeDue(deleteBatchSize);
    if (keys.length === 0) return 0;
    await withTimeout(deleteMs, signal, (bounded) => this.store.delete(keys, bounded));
    await this.objects.forget(keys);
    return keys.length;
  }

  /** Aborts uploads of dead processes. Every upload in progress is younger than `STORE_DOUBT_SECONDS`. */
  private async abortStale(signal: AbortSignal): Promise<number> {
    // If this clock is ahead, uploads that other processes have in progress look hours old.
    if (this.clock.problem !== undefined) return 0;
    const beforeMs = Date.now() - this.settings.STORE_DOUBT_SECONDS * 1000;
    return withTimeout(deleteMs, signal, (bounded) => this.store.abortStale(beforeMs, bounded));
  }
}
