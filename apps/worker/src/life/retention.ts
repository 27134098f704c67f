import type { Log } from '#observability';
import type { Upkeep } from '#persistence';
import type { BeforeApplicationShutdown } from '@nestjs/common';

type Verbs = Pick<
  Upkeep,
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
export class Retention implements BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private under: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly upkeep: Verbs,
    private readonly everyMs: number,
    private readonly log: Log,
  ) {}

  /** The first round starts at once: a service that was off for days needs its partitions. */
  start(): void {
    this.under = this.round();
  }

  /** The statement under way may end; the database is closed after this. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.under;
  }

  private async round(): Promise<void> {
    await this.each('partitions', () => this.upkeep.ensurePartitions(), 'once');
    await this.each('expired keys', () => this.upkeep.deleteExpiredKeys());
    await this.each('aged-out runs', () => this.upkeep.ageOut());
    await this.each('tombstones', () => this.upkeep.deleteTombstones());
    await this.each('finished days', () => this.dropDay());
    await this.each('ledger entries', () => this.upkeep.deleteOldLedgerEntries());
    await this.each('audit records', () => this.upkeep.deleteOldAuditRecords());
    if (!this.stopped) this.timer = setTimeout(() => this.start(), this.everyMs);
  }

  /** Repeats a verb until nothing is left. A verb that fails does not keep the others from their turn. */
  private async each(what: string, batch: () => Promise<number>, times?: 'once'): Promise<void> {
    const untilMs = performance.now() + verbMs;
    try {
      while (!this.stopped && performance.now() < untilMs) {
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
