import { type Log, LOG } from '#observability';
import { ErasureRepository, StoredObjectRepository } from '#persistence';
import { RunStreams } from '#queue';
import { AssetStore } from '#storage';
import { Inject, Injectable } from '@nestjs/common';

/** Limits how long a deletion waits for the store. Workers delete what is left. */
const storeMs = 10_000;

/** Deletes the data of ended runs from the database, the store and the streams on their way to callers. */
@Injectable()
export class RunErasure {
  constructor(
    private readonly erasures: ErasureRepository,
    private readonly objects: StoredObjectRepository,
    private readonly store: AssetStore,
    private readonly streams: RunStreams,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** `by` names the credential. Objects that the store does not delete now are deleted by the next round of retention. */
  async eraseRun(workspaceId: string, runId: string, by: string): ReturnType<ErasureRepository['eraseRun']> {
    const result = await this.erasures.eraseRun(workspaceId, runId, by);
    if (result === 'erased') await Promise.all([this.deleteObjects(runId), this.streams.forget(runId)]);
    return result;
  }

  private async deleteObjects(runId: string): Promise<void> {
    const keys = await this.objects.takeOf(runId);
    if (keys.length === 0) return;
    try {
      await this.store.delete(keys, AbortSignal.timeout(storeMs));
      await this.objects.forget(keys);
    } catch (error) {
      this.log.warn({ error, run_id: runId }, 'could not delete the objects of a run; a worker deletes them');
      await this.objects.giveBack(keys);
    }
  }
}
