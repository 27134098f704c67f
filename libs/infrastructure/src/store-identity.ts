import { type Log, LOG } from '#observability';
import { DatabaseOutage, ProcessRecord } from '#persistence';
import { AssetStore, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { v7 } from 'uuid';
import { DatabaseFigures } from './database-figures.js';

const everyMs = 30_000;
const callMs = 10_000;
/** Processes that start together may each make an id. The last one stays. */
const settlesInMs = 1_000;
const key = 'store-id';

/**
 * Compares the asset store of this process with that of the process that runs longest, by an id that the store itself keeps.
 * Two machines without a bucket, or with different ones, look well until an input or a result is large.
 */
@Injectable()
export class StoreIdentity extends DatabaseFigures {
  /** Describes what is wrong with the store. Undefined while it is right, or while it does not answer. */
  problem: string | undefined;
  /** Called when the store becomes wrong, or right again. */
  onChange: (() => void) | undefined;

  constructor(
    private readonly store: AssetStore,
    private readonly record: ProcessRecord,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
    @Inject(LOG) private readonly log: Log,
  ) {
    super(outage, everyMs, 'could not compare the asset stores of the processes');
  }

  protected async read(): Promise<void> {
    const id = await this.id();
    if (id === undefined) return;
    await this.record.reportStore(id);
    const first = await this.record.storeOfFirst();
    this.judge(
      first === undefined || first.store === id
        ? undefined
        : `this process sees another asset store than the ${first.app} on ${first.host}, which runs longer`,
    );
  }

  /** The id of the store, which is made if it has none. Undefined if it does not answer. */
  private async id(): Promise<string | undefined> {
    const signal = AbortSignal.timeout(callMs);
    const kept = async () => (await buffer((await this.store.get(key, signal)).body)).toString();
    try {
      return await kept().catch(async (error: unknown) => {
        if (!(error instanceof StorageError && error.failure === 'not_found')) throw error;
        await this.store.put(key, Buffer.from(v7()), { mediaType: 'text/plain', signal });
        await pause(settlesInMs);
        return kept();
      });
    } catch {
      // Metrics and alerts tell that the store fails.
      return undefined;
    }
  }

  private judge(problem: string | undefined): void {
    const before = this.problem;
    this.problem = problem;
    if (problem !== undefined) this.log.error({}, `not ready: ${problem}`);
    else if (before !== undefined)
      this.log.info({}, 'this process sees the same asset store as the others again');
    if ((before === undefined) !== (problem === undefined)) this.onChange?.();
  }
}
