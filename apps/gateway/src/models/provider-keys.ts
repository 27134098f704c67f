import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { Database, providerKeys } from '#persistence';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

const refreshMs = 2_000;
/** However many calls want to know. */
const minRefreshMs = 250;

/** For which providers some worker has a key, as the workers report it: at most two seconds old. */
@Injectable()
export class ProviderKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private withoutKey: ReadonlySet<string> = new Set();
  private reading: { startedAtMs: number; done: Promise<void> } | undefined;
  private refreshing: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    @Inject(LOG) private readonly log: Log,
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

  /** Looks again before it says no: the key may have come just now. */
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

  /** What was known stays while the database does not answer. */
  private async read(): Promise<void> {
    try {
      const keys = await providerKeys(this.database);
      this.withoutKey = new Set(keys.flatMap(({ provider, hasKey }) => (hasKey ? [] : [provider])));
    } catch (error) {
      this.log.warn({ error }, 'it could not be read which providers have a key');
    }
  }
}
