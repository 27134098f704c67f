import type { StoredObjectRepository } from '#persistence';
import type { AssetStore } from '#storage';

const batch = 100;
const deleteMs = 60_000;

/** Deletes from the store what no run needs: aged out, refused at admission, or left behind by a crash. */
export class StoreUpkeep {
  constructor(
    private readonly store: AssetStore,
    private readonly objects: StoredObjectRepository,
    private readonly doubtSeconds: number,
  ) {}

  /** One batch; returns how many. A failure leaves them for a later round. */
  async deleteDue(signal: AbortSignal): Promise<number> {
    const keys = await this.objects.takeDue(batch);
    if (keys.length === 0) return 0;
    await this.store.delete(keys, bounded(signal));
    await this.objects.forget(keys);
    return keys.length;
  }

  /** What killed processes had begun to put. No put takes as long as a doubt may last. */
  async abortStale(signal: AbortSignal): Promise<number> {
    return this.store.abortStale(Date.now() - this.doubtSeconds * 1000, bounded(signal));
  }
}

const bounded = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(deleteMs)]);
