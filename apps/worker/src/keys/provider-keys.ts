import { SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import {
  DatabaseOutage,
  type LiveRun,
  type Poll,
  type PoolKey,
  ProviderKeyRepository,
  type TakenRun,
} from '#persistence';
import {
  type BoundProvider,
  defaultKeyName,
  isPool,
  type KeyedProvider,
  mayUseAnother,
  type ProviderFailure,
  type ProviderKey,
} from '#providers';
import { Inject, Injectable } from '@nestjs/common';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { OwnKeys } from './own-keys.js';

/** The provider's keys without their secrets. Undefined if there is no choice and no limit. */
export const poolOf = ({ keys }: Pick<BoundProvider, 'keys'>): PoolKey[] | undefined =>
  isPool(keys) ? keys.map(({ secret: _secret, ...key }) => key) : undefined;

/** Decides which key of a provider a run uses, and records what the provider says about it. */
@Injectable()
export class ProviderKeys {
  constructor(
    private readonly providers: Providers,
    private readonly pools: ProviderKeyRepository,
    private readonly own: OwnKeys,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'PROVIDER_MAX_PAUSE_MS'>,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  /**
   * The key that submits the run, uploads included. Undefined if this worker does not have it; `gone` if the workspace of
   * the run has deleted it.
   */
  async keyFor(provider: BoundProvider, run: TakenRun): Promise<ProviderKey | 'gone' | undefined> {
    return run.facts.ownKey === undefined ? this.named(provider, run.keyName) : this.own.keyFor(run);
  }

  /** The key that submitted the run, for its polls, cancellations, fetches and downloads. */
  async keyOf(
    provider: BoundProvider,
    run: LiveRun & Pick<Poll, 'providerKey'>,
  ): Promise<ProviderKey | 'gone' | undefined> {
    return run.facts.ownKey === undefined ? this.named(provider, run.providerKey) : this.own.keyOf(run);
  }

  /**
   * Records a rejection with a time to wait (Retry-After) for one key of a pool. Returns the milliseconds until another key
   * may submit. Undefined if the rejection concerns the provider as a whole.
   */
  async cool(
    provider: KeyedProvider,
    calls: 'submit' | 'poll',
    { class: failureClass, afterMs = 0 }: ProviderFailure,
  ): Promise<number | undefined> {
    const of = this.inPool(provider);
    if (!of || failureClass !== 'provider_unavailable' || afterMs === 0) return undefined;
    this.metrics.keyRejections.inc({ provider: provider.name, key: of.name, reason: 'rate_limit' });
    const forMs = Math.min(afterMs, this.settings.PROVIDER_MAX_PAUSE_MS);
    try {
      return await this.pools.cool(of, calls, forMs, of.pool);
    } catch (error) {
      this.outage.warn({ error, provider: provider.name, key: of.name }, 'could not record that a key cools');
      return undefined;
    }
  }

  /** Makes the key leave the pool if the reply rejects it. Returns whether another key can submit the run. */
  async drop(provider: KeyedProvider, failure: ProviderFailure): Promise<boolean> {
    const of = this.inPool(provider);
    const { account } = failure;
    if (!of || account === undefined) return false;
    const facts = { provider: provider.name, key: of.name, reason: account };
    this.metrics.keyRejections.inc(facts);
    if (!mayUseAnother(provider, failure)) return false;
    try {
      const hasOther = await this.pools.drop(of, account, of.pool);
      if (hasOther) this.log.error(facts, 'a key was rejected and left the pool of its provider');
      return hasOther;
    } catch (error) {
      this.outage.warn({ error, ...facts }, 'could not record that a key was rejected');
      return false;
    }
  }

  private inPool(provider: KeyedProvider) {
    const pool = poolOf(provider);
    const key = provider.keys.find((each) => each === provider.key);
    return pool && key && { provider: provider.name, name: key.name, pool };
  }

  private named(provider: BoundProvider, name: string | null): ProviderKey | undefined {
    const wanted = name ?? defaultKeyName;
    return (
      provider.keys.find((key) => key.name === wanted) ?? this.providers.retiredKey(provider.name, wanted)
    );
  }
}
