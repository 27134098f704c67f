import { every, type Log, LOG, type PeriodicWork, withTimeout } from '#observability';
import { ClockSkew, RetentionRepository, StoredObjectRepository } from '#persistence';
import { AssetStore } from '#storage';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';

/** Work that is left after this time waits for the next round, so that every verb gets its turn. */
const verbMs = 10_000;

const deleteBatchSize = 100;
const deleteMs = 60_000;

/**
 * Lets results age out, deletes from the store what no run needs, and keeps the tables in shape. Every worker does
 * rounds; what one of them works on, the others pass over. Nothing that a caller is told depends on a round having come
 * by.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;

  constructor(
    private readonly repository: RetentionRepository,
    private readonly store: AssetStore,
    private readonly objects: StoredObjectRepository,
    private readonly clock: ClockSkew,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'RETENTION_EVERY_MS' | 'STORE_DOUBT_SECONDS'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** The first round starts at once: a service that was off for days needs its partitions. */
  onApplicationBootstrap(): void {
    this.rounds = every(this.settings.RETENTION_EVERY_MS, (signal) => this.round(signal), {
      onError: (error) => this.log.warn({ error }, 'retention failed, trying again later'),
      immediately: true,
    });
  }

  /** The statement under way may end, the store is left at once. */
  async onModuleDestroy(): Promise<void> {
    await this.rounds?.stop();
  }

  private async round(signal: AbortSignal): Promise<void> {
    await this.each(signal, 'partitions', () => this.repository.ensurePartitions(), 'once');
    await this.each(signal, 'expired idempotency keys', () => this.repository.deleteExpiredKeys());
    await this.each(signal, 'aged-out runs', () => this.repository.ageOut());
    await this.each(signal, 'stored objects', () => this.deleteDue(signal));
    await this.each(signal, 'stale uploads', () => this.abortStale(signal), 'once');
    await this.each(signal, 'tombstones', () => this.repository.deleteTombstones());
    await this.each(signal, 'webhooks', () => this.repository.deleteOldWebhooks());
    await this.each(signal, 'finished days', () => this.dropDay());
    await this.each(signal, 'ledger entries', () => this.repository.deleteOldLedgerEntries());
    await this.each(signal, 'ended API keys', () => this.repository.deleteEndedKeys());
    await this.each(signal, 'audit records', () => this.repository.deleteOldAuditRecords());
  }

  /** Repeats a verb until nothing is left. A verb that fails does not keep the others from their turn. */
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
      this.log.warn({ error, what }, 'retention failed, trying again later');
    }
  }

  private async dropDay(): Promise<number> {
    const day = await this.repository.dropDay();
    if (day === null) return 0;
    this.log.info({ day }, 'a finished day of runs was dropped');
    return 1;
  }

  /** One batch; returns how many. A failure leaves them for a later round. */
  private async deleteDue(signal: AbortSignal): Promise<number> {
    const keys = await this.objects.takeDue(deleteBatchSize);
    if (keys.length === 0) return 0;
    await withTimeout(deleteMs, signal, (bounded) => this.store.delete(keys, bounded));
    await this.objects.forget(keys);
    return keys.length;
  }

  /** Removes uploads that killed processes had begun. No put takes as long as a doubt may last. */
  private async abortStale(signal: AbortSignal): Promise<number> {
    // If the clock is ahead, uploads that other processes are making right now look hours old.
    if (this.clock.problem !== undefined) return 0;
    const beforeMs = Date.now() - this.settings.STORE_DOUBT_SECONDS * 1000;
    return withTimeout(deleteMs, signal, (bounded) => this.store.abortStale(beforeMs, bounded));
  }
}
