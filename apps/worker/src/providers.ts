import type { Catalog } from '#catalog';
import { SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import { bindProviders, type BoundProvider, type ProviderKey } from '#providers';
import { surpriseKindNames } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { WorkerSettings } from './settings.js';

/**
 * The providers of this worker by name: those built into the release and those declared in the operator's
 * directory. A provider whose declaration is removed stays known to this process, and so does a removed key, so that
 * their live runs can finish.
 */
@Injectable()
export class Providers {
  private readonly byName = new Map<string, BoundProvider>();
  private readonly retired = new Map<string, ProviderKey>();
  /** The providers whose keys were replaced and have yet to be checked, with the names of the keys that stay. */
  readonly rekeyed = new Map<string, readonly string[]>();
  private loggedWithoutKey = '';

  constructor(
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
  ) {}

  get(name: string): BoundProvider | undefined {
    return this.byName.get(name);
  }

  /** All providers that this process knows. */
  all(): BoundProvider[] {
    return [...this.byName.values()];
  }

  /** A key that this process had before it was removed. */
  retiredKey(provider: string, name: string): ProviderKey | undefined {
    return this.retired.get(`${provider} ${name}`);
  }

  /** Whether each provider has a key. */
  keyed(): Record<string, boolean> {
    return Object.fromEntries([...this.byName].map(([name, { keys }]) => [name, keys.length > 0]));
  }

  /** The providers whose key this worker has and can prove by a free call. */
  checkable(): string[] {
    return [...this.byName.values()].flatMap(({ name, keys, check }) =>
      keys.length > 0 && check ? [name] : [],
    );
  }

  /** The providers that the simulator serves. */
  simulated(): string[] {
    return [...this.byName.values()].flatMap(({ name, simulated }) => (simulated ? [name] : []));
  }

  /** Adopts a catalog's providers with their current addresses and keys. Throws `BadSettings`. */
  bind(catalog: Catalog): void {
    const { PROVIDER_KEYS_DIR: keys } = this.settings;
    const { providers, withoutKey } = bindProviders(process.env, catalog.providers, keys);
    for (const bound of providers.values()) {
      const known = this.byName.get(bound.name);
      const same =
        known?.declaration === bound.declaration &&
        known?.base === bound.base &&
        isDeepStrictEqual(known.keys, bound.keys);
      if (same) continue;
      for (const key of known?.keys ?? []) this.retired.set(`${bound.name} ${key.name}`, key);
      if (known) this.noteKeys(known, bound);
      this.byName.set(bound.name, bound);
    }
    const listed = withoutKey.join(' ');
    if (listed !== this.loggedWithoutKey && listed !== '') {
      this.log.warn({ providers: withoutKey }, 'no key is set for these providers');
    }
    this.loggedWithoutKey = listed;
    this.metrics.expectProviders([...this.byName.keys()]);
    for (const provider of this.byName.keys())
      for (const kind of surpriseKindNames) this.metrics.providerSurprises.inc({ provider, kind }, 0);
  }

  private noteKeys({ name, keys: before }: BoundProvider, { keys }: BoundProvider): void {
    const kept = keys.filter((key) => hasSame(before, key)).map((key) => key.name);
    if (kept.length === keys.length && kept.length === before.length) return;
    this.rekeyed.set(name, kept);
    this.log.info(
      { provider: name, keys: keys.map((key) => key.name) },
      'the keys of a provider were replaced',
    );
  }
}

const hasSame = (of: readonly ProviderKey[], { name: key, secret }: ProviderKey) =>
  of.some((each) => each.name === key && each.secret === secret);
