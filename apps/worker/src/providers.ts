import type { Catalog } from '#catalog';
import { SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import { bindProviders, type BoundProvider } from '#providers';
import { Inject, Injectable } from '@nestjs/common';
import type { WorkerSettings } from './settings.js';

/**
 * The providers of this worker by name: those of the release, and those that the operator's directory declares.
 * One that is declared no more stays known to this process: its live runs are brought to their end.
 */
@Injectable()
export class Providers {
  private readonly byName = new Map<string, BoundProvider>();
  private loggedWithoutKey = '';

  constructor(
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
  ) {}

  get(name: string): BoundProvider | undefined {
    return this.byName.get(name);
  }

  /** Whether there is a key, by provider. */
  keyed(): Record<string, boolean> {
    return Object.fromEntries([...this.byName].map(([name, { secret }]) => [name, secret !== undefined]));
  }

  /** Takes over a catalog's providers, with their addresses and keys as they are now. Throws `BadSettings`. */
  bind(catalog: Catalog): void {
    const { PROVIDER_KEYS_DIR: keys } = this.settings;
    const { providers, withoutKey } = bindProviders(process.env, catalog.providers, keys);
    for (const bound of providers.values()) {
      const known = this.byName.get(bound.name);
      const same =
        known?.declaration === bound.declaration &&
        known?.base === bound.base &&
        known.secret === bound.secret;
      if (!same) this.byName.set(bound.name, bound);
    }
    const listed = withoutKey.join(' ');
    if (listed !== this.loggedWithoutKey && listed !== '') {
      this.log.warn({ providers: withoutKey }, 'no key is set for these providers');
    }
    this.loggedWithoutKey = listed;
    this.metrics.expectProviders(this.byName.keys());
  }
}
