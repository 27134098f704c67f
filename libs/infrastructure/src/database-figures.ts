import { every, type PeriodicWork } from '#observability';
import type { DatabaseOutage } from '#persistence';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';

/** Figures that a process reads from the database now and then. While it does not answer, the last ones stay. */
export abstract class DatabaseFigures implements OnApplicationBootstrap, OnApplicationShutdown {
  private rounds: PeriodicWork | undefined;

  /** `loss` is the log line about a reading that failed. */
  protected constructor(
    private readonly outage: Pick<DatabaseOutage, 'warn'>,
    private readonly everyMs: number,
    private readonly loss: string,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(this.everyMs, () => this.refresh(), { onError: () => {}, immediately: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.rounds?.stop();
  }

  /** Reads the figures now. Never rejects. */
  protected async refresh(): Promise<void> {
    await this.read().catch((error: unknown) => this.outage.warn({ error }, this.loss));
  }

  protected abstract read(): Promise<void>;
}
