import { every, type PeriodicWork, settlesWithin } from '#observability';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { DatabaseOutage } from './database-outage.js';

const closeMs = 2_000;

/** Writes now and then what calls have left. No call waits for the writes; they are lost if the database does not take them. */
export abstract class BackgroundWriter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private rounds: PeriodicWork | undefined;

  /** `loss` is the log line about a write that failed. */
  protected constructor(
    private readonly outage: Pick<DatabaseOutage, 'warn'>,
    private readonly everyMs: number,
    private readonly loss: string,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(this.everyMs, () => this.write(), { onError: (error) => this.lost(error) });
  }

  /** No more calls arrive by now, and the database is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    const last = async () => {
      await this.rounds?.stop();
      await this.write(Infinity);
    };
    await settlesWithin(
      last().catch((error: unknown) => this.lost(error)),
      closeMs,
    );
  }

  /** Writes what is due by then. */
  abstract write(byMs?: number): Promise<void>;

  private lost(error: unknown): void {
    this.outage.warn({ error }, this.loss);
  }
}
