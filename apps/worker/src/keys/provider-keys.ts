import type { LiveRun, TakenRun } from '#persistence';
import type { BoundProvider, ProviderKey } from '#providers';
import { Injectable } from '@nestjs/common';

/** Decides which key of a provider a run uses. */
@Injectable()
export class ProviderKeys {
  /** The key that submits the run, uploads included. Undefined if this worker has none for it. */
  async keyFor(provider: BoundProvider, _run: TakenRun): Promise<ProviderKey | undefined> {
    return provider.keys[0];
  }

  /** The key that submitted the run, for its polls, cancellations, fetches and downloads. */
  async keyOf(provider: BoundProvider, _run: LiveRun): Promise<ProviderKey | undefined> {
    return provider.keys[0];
  }
}
