import type { Catalog } from '#catalog';
import type { Log, Metrics } from '#observability';
import { bindProviders, type BoundProvider } from '#providers';

/**
 * The partners of this worker by name: those of the release, and those that the operator's directory declares.
 * One that is declared no more stays known to this process: its live runs are brought to their end.
 */
export class Providers {
  private readonly byName = new Map<string, BoundProvider>();
  private toldWithoutKey = '';
  private afterBinding: () => void = () => {};

  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly keysDirectory: string | undefined,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  get(name: string): BoundProvider | undefined {
    return this.byName.get(name);
  }

  names(): string[] {
    return [...this.byName.keys()];
  }

  /** Calls back after each binding, when there may be new names. */
  whenBound(call: () => void): void {
    this.afterBinding = call;
  }

  /** Takes over a catalog's providers, with their addresses and keys as they are now. Throws `BadSettings`. */
  bind(catalog: Catalog): void {
    const { providers, withoutKey } = bindProviders(this.env, catalog.providers, this.keysDirectory);
    for (const bound of providers.values()) {
      const known = this.byName.get(bound.name);
      const same =
        known?.declaration === bound.declaration &&
        known?.base === bound.base &&
        known.secret === bound.secret;
      if (!same) this.byName.set(bound.name, bound);
    }
    const listed = withoutKey.join(' ');
    if (listed !== this.toldWithoutKey && listed !== '') {
      this.log.warn({ providers: withoutKey }, 'no key is set for these providers');
    }
    this.toldWithoutKey = listed;
    this.metrics.expectProviders(this.names());
    this.afterBinding();
  }
}
