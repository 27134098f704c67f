import { every, type PeriodicWork } from '#observability';
import { ApiKeyRepository, DatabaseOutage } from '#persistence';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Identification } from './identification.js';

const noteMs = 60_000;

/** Notes when keys were last used: once a minute, so that no call waits for it. */
@Injectable()
export class KeyUses implements OnApplicationBootstrap, OnApplicationShutdown {
  private notes: PeriodicWork | undefined;

  constructor(
    private readonly identification: Identification,
    private readonly keys: ApiKeyRepository,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.notes = every(noteMs, () => this.note(), { onError: () => {} });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.notes?.stop();
    await this.note();
  }

  /** A minute's uses are lost if the database does not answer. */
  private async note(): Promise<void> {
    const ids = this.identification.takeUsed();
    if (ids.length === 0) return;
    try {
      await this.keys.noteUse(ids);
    } catch (error) {
      this.outage.warn({ error }, 'could not note the use of keys');
    }
  }
}
