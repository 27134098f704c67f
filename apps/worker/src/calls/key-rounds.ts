import { every, Metrics, type PeriodicWork } from '#observability';
import { DatabaseOutage, type KeyState, keyStates, ProviderKeyRepository } from '#persistence';
import { isPool } from '#providers';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ProviderChecks } from './provider-checks.js';
import { Providers } from '../providers.js';

const everyMs = 5_000;

/** Reports the keys of this worker's pools, shows their states, and checks those that have left. */
@Injectable()
export class KeyRounds implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;
  /** Keys whose states were shown. */
  private shown: readonly KeyState[] = [];

  constructor(
    private readonly providers: Providers,
    private readonly pools: ProviderKeyRepository,
    private readonly checks: ProviderChecks,
    private readonly metrics: Metrics,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(everyMs, () => this.round(), {
      onError: (error) => this.outage.warn({ error }, 'could not report the keys of providers'),
      immediately: true,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds?.stop();
  }

  private async round(): Promise<void> {
    const pools = this.providers.all().filter(({ keys }) => isPool(keys));
    const keys = pools.flatMap(({ name: provider, keys: own }) =>
      own.map(({ secret: _secret, ...key }) => ({ ...key, provider })),
    );
    if (keys.length === 0 && this.shown.length === 0) return;
    await this.pools.report(keys);
    this.show(await this.pools.list());
    const checkable = keys.filter(({ provider }) => this.providers.get(provider)?.check);
    for (const due of await this.pools.takeChecks(checkable))
      if (await this.isAccepted(due)) await this.pools.restore(due);
  }

  /** Whether the provider accepts the key again. An empty balance is not accepted, although the key is. */
  private async isAccepted({ provider: of, name }: Pick<KeyState, 'provider' | 'name'>): Promise<boolean> {
    const provider = this.providers.get(of);
    const key = provider?.keys.find((each) => each.name === name);
    const answer = provider && key && (await this.checks.checkKey(provider, key));
    const { result, detail, balance } = answer ?? {};
    return result === 'ok' && detail === undefined && (balance === undefined || balance.amount > 0);
  }

  private show(listed: readonly KeyState[]): void {
    for (const { provider, name: key } of this.shown)
      for (const state of keyStates) this.metrics.keyStates.remove({ provider, key, state });
    for (const { provider, name: key, state: now } of listed)
      for (const state of keyStates)
        this.metrics.keyStates.set({ provider, key, state }, Number(state === now));
    this.shown = listed;
  }
}
