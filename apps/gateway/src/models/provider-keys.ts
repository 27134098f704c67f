import { every, type PeriodicWork } from '#observability';
import { Database, DatabaseOutage, providerKeys } from '#persistence';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

const refreshMs = 2_000;
/** Minimum time between two reads, however many calls need one. */
const minRefreshMs = 250;

/** For which providers at least one worker reports a key, and which of them the simulator serves. At most two seconds old while the database answers. */
@Injectable()
export class ProviderKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private withoutKey: ReadonlySet<string> = new Set();
  private simulated: ReadonlySet<string> = new Set();
  private reading: { startedAtMs: number; done: Promise<void> } | undefined;
  private refreshing: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.refreshing = every(refreshMs, () => this.refresh(), { onError: () => {}, immediately: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.refreshing?.stop();
  }

  has(provider: string): boolean {
    return !this.withoutKey.has(provider);
  }

  /** Whether the simulator serves the provider. */
  isSimulated(provider: string): boolean {
    return this.simulated.has(provider);
  }

  /** Reads again before it returns false, because the key may be new. */
  async hasNow(provider: string): Promise<boolean> {
    if (!this.has(provider)) await this.refresh();
    return this.has(provider);
  }

  private refresh(): Promise<void> {
    const nowMs = performance.now();
    if (this.reading === undefined || nowMs - this.reading.startedAtMs >= minRefreshMs) {
      this.reading = { startedAtMs: nowMs, done: this.read() };
    }
    return this.reading.done;
  }

  /** Keeps the last known state while the database does not answer. */
  private async read(): Promise<void> {
    try {
      const keys = await providerKeys(this.database);
      this.withoutKey = new Set(keys.flatMap(({ provider, hasKey }) => (hasKey ? [] : [provider])));
      this.simulated = new Set(keys.flatMap(({ provider, simulated }) => (simulated ? [provider] : [])));
    } catch (error) {
      this.outage.warn({ error }, 'could not read which providers have a key');
    }
  }
}
