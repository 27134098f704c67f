import { DatabaseFigures } from '#infrastructure';
import { Database, DatabaseOutage, providerKeys } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';

const refreshMs = 2_000;
/** Minimum time between two reads, however many calls need one. */
const minRefreshMs = 250;

/** For which providers at least one worker reports a key, and which of them the simulator serves. At most two seconds old while the database answers. */
@Injectable()
export class ProviderKeys extends DatabaseFigures {
  private withoutKey: ReadonlySet<string> = new Set();
  private simulated: ReadonlySet<string> = new Set();
  private reading: { startedAtMs: number; done: Promise<void> } | undefined;

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, refreshMs, 'could not read which providers have a key');
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

  protected override refresh(): Promise<void> {
    const nowMs = performance.now();
    if (this.reading === undefined || nowMs - this.reading.startedAtMs >= minRefreshMs) {
      this.reading = { startedAtMs: nowMs, done: super.refresh() };
    }
    return this.reading.done;
  }

  protected async read(): Promise<void> {
    const keys = await providerKeys(this.database);
    this.withoutKey = new Set(keys.flatMap(({ provider, hasKey }) => (hasKey ? [] : [provider])));
    this.simulated = new Set(keys.flatMap(({ provider, simulated }) => (simulated ? [provider] : [])));
  }
}
