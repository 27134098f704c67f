import type { LiveRun, TakenRun } from '#persistence';
import type { BoundProvider, ProviderKey } from '#providers';
import { Injectable } from '@nestjs/common';
import { OwnKeys } from './own-keys.js';

/** Decides which key of a provider a run uses. `gone`: its workspace has deleted the key that it would use. */
@Injectable()
export class ProviderKeys {
  constructor(private readonly own: OwnKeys) {}

  /** The key that submits the run, uploads included. Undefined if this worker has none for it. */
  async keyFor(provider: BoundProvider, run: TakenRun): Promise<ProviderKey | 'gone' | undefined> {
    if (run.facts.ownKey !== undefined) return this.own.keyFor(run);
    return provider.keys[0];
  }

  /** The key that submitted the run, for its polls, cancellations, fetches and downloads. */
  async keyOf(provider: BoundProvider, run: LiveRun): Promise<ProviderKey | 'gone' | undefined> {
    if (run.facts.ownKey !== undefined) return this.own.keyOf(run);
    return provider.keys[0];
  }
}
