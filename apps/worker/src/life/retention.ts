import type { Log } from '#observability';
import type { RetentionRepository } from '#persistence';
import type { StoreUpkeep } from './store-upkeep.js';

type Verbs = Pick<
  RetentionRepository,
  | 'ensurePartitions'
  | 'deleteExpiredKeys'
  | 'ageOut'
  | 'deleteTombstones'
  | 'dropDay'
  | 'deleteOldLedgerEntries'
  | 'deleteOldAuditRecords'
>;

/** Work that is left after this time waits for the next round, so that every verb gets its turn. */
const verbMs = 10_000;

/**
 * Lets results age out and keeps the tables in shape. Every worker does rounds; what one of them works on,
 * the others pass over. Nothing that a caller is told depends on a round having come by.
 */
export class Retention {
  private timer: NodeJS.Timeout | undefined;
  private under: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly upkeep: Verbs,
    private readonly store: Pick<StoreUpkeep, 'deleteDue' | 'abortStale'>,
    private readonly everyMs: number,
    private readonly log: Log,
  ) {}

  /** The first round starts at once: a service that was off for days needs its partitions. */
  start(): void {
    this.under = this.round();
  }

  /** The statement under way may end, the store is left at once; the database is closed after this. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.under;
  }

  private async round(): Promise<void> {
    await this.each('partitions', () => this.upkeep.ensurePartitions(), 'once');
    await this.each('expired keys', () => this.upkeep.deleteExpiredKeys());
    await this.each('aged-out runs', () => this.upkeep.ageOut());
    await this.each('stored objects', () => this.store.deleteDue(this.stopping.signal));
    await this.each('stale uploads', () => this.store.abortStale(this.stopping.signal), 'once');
    await this.each('tombstones', () => this.upkeep.deleteTombstones());
    await this.each('finished days', () => this.dropDay());
    await this.each('ledger entries', () => this.upkeep.deleteOldLedgerEntries());
    await this.each('audit records', () => this.upkeep.deleteOldAuditRecords());
    if (!this.stopping.signal.aborted) this.timer = setTimeout(() => this.start(), this.everyMs);
  }

  /** Repeats a verb until nothing is left. A verb that fails does not keep the others from their turn. */
  private async each(what: string, batch: () => Promise<number>, times?: 'once'): Promise<void> {
    const untilMs = performance.now() + verbMs;
    try {
      while (!this.stopping.signal.aborted && performance.now() < untilMs) {
        if ((await batch()) === 0 || times === 'once') return;
      }
    } catch (error) {
      this.log.warn({ error, what }, 'retention failed, trying again later');
    }
  }

  private async dropDay(): Promise<number> {
    const day = await this.upkeep.dropDay();
    if (day === null) return 0;
    this.log.info({ day }, 'a finished day of runs was dropped');
    return 1;
  }
}
