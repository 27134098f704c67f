import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG, Metrics, withTimeout } from '#observability';
import type { ClaimedRun } from '#persistence';
import type { KeyedProvider } from '#providers';
import { AssetStore, runKeys, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { Payloads } from '../bytes/payloads.js';
import { faultOf } from '../calls/fault.js';
import { discardBody } from '../calls/provider-client.js';
import type { WorkerSettings } from '../settings.js';
import { AssetSource, type CopyTrouble, NotCopied } from './asset-source.js';
import type { FoundAsset } from '../bytes/found-assets.js';

/** Maximum number of assets of one result that are copied concurrently. */
const copiesAtOnce = 4;
/** Maximum number of assets of one result that are copied at all; the rest keep the provider's URL. */
const maxCount = 64;

/** An asset's copy in our own store, and its signed URL. */
export interface Copy {
  key: string;
  url: string;
}

type CopiedRun = Pick<ClaimedRun, 'runId' | 'workspaceId'>;

/** Copies assets to the store. An asset that cannot be copied in time keeps the provider's URL. */
@Injectable()
export class AssetCopies {
  constructor(
    private readonly source: AssetSource,
    private readonly payloads: Payloads,
    private readonly store: AssetStore,
    private readonly attempts: AttemptRecorder,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Returns the copies by the provider's URL, without the assets that could not be copied. Copies run
   * concurrently, so that one that hangs does not block the others, and share one time limit: an unresponsive
   * host delays a result only once, however many assets it has.
   */
  async copyAll(
    run: CopiedRun,
    assets: readonly FoundAsset[],
    provider: KeyedProvider,
    signal: AbortSignal,
  ): Promise<Map<string, Copy>> {
    const copies = new Map<string, Copy>();
    const waiting = [...new Set(assets.map(({ url }) => url))].entries();
    await withTimeout(this.settings.ASSET_COPY_MS, signal, async (bounded) => {
      const copyInTurn = async () => {
        for (const [index, url] of waiting) {
          try {
            copies.set(url, await this.copy(run, index, new URL(url), provider, bounded));
            this.metrics.assetCopies.inc({ outcome: 'copied' });
          } catch (error) {
            if (signal.aborted) return;
            // The database is down, and the asset may be fine. The job is retried when the database is back.
            if (error instanceof RouterError) throw error;
            const isLate = bounded.aborted && !(error instanceof NotCopied);
            const trouble = isLate ? 'timeout' : troubleOf(error);
            this.metrics.assetCopies.inc({ outcome: trouble });
            // Logs neither the URL, which may give anyone access to the asset, nor the provider's own words.
            const facts = { run_id: run.runId, asset: index, trouble };
            this.log.warn(facts, 'asset not copied; the result keeps the provider’s URL');
            this.attempts.note(provider, run.runId, failedCopy(trouble, error));
          }
        }
      };
      await Promise.all(Array.from({ length: copiesAtOnce }, copyInTurn));
    });
    return copies;
  }

  private async copy(
    { runId, workspaceId }: CopiedRun,
    index: number,
    url: URL,
    provider: KeyedProvider,
    signal: AbortSignal,
  ): Promise<Copy> {
    if (index >= maxCount) throw new NotCopied('too_many', `is beyond the first ${maxCount} assets`);
    signal.throwIfAborted();
    const { mediaType, body } = await this.source.open(url, provider, { workspaceId, signal });
    const key = runKeys.asset(runId, index, extensionOf(url));
    try {
      await failpoint('copying.beforePut', runId);
      const bytes = await this.payloads.putBody(key, runId, body, {
        mediaType,
        maxBytes: this.settings.ASSET_MAX_BYTES,
        signal,
      });
      // The provider may still upload the file to its URL, whereas an empty copy stays empty.
      if (bytes === 0) throw new NotCopied('empty', 'has no bytes');
      this.metrics.assetCopyBytes.inc(bytes);
      await failpoint('copying.afterPut', runId);
    } finally {
      discardBody(body);
    }
    const signing = { expiresInSeconds: this.settings.ASSET_URL_TTL, nowMs: Date.now() };
    return { key, url: await this.store.sign(key, signing) };
  }
}

function failedCopy(trouble: CopyTrouble, error: unknown) {
  const notCopied = error instanceof NotCopied ? error : undefined;
  const why = copyReadings[trouble] ?? notCopied?.message;
  const reading = `The result keeps the provider’s URL of an asset, which ${why}.`;
  return { phase: 'asset', class: trouble, retry: 'never', reading, ...notCopied?.reply } as const;
}

/** The other troubles have a message. */
const copyReadings: Partial<Record<CopyTrouble, string>> = {
  refused_address: 'is on an address that may not be called',
  too_large: 'is larger than the limit',
  unreachable: 'could not be fetched',
  timeout: 'did not arrive in time',
  store: 'could not be stored',
};

function troubleOf(error: unknown): CopyTrouble {
  if (error instanceof NotCopied) return error.trouble;
  if (error instanceof StorageError) return error.failure === 'too_large' ? 'too_large' : 'store';
  const fault = faultOf(error);
  return fault.fault === 'not_sent' && fault.cause === 'refused_address' ? 'refused_address' : 'unreachable';
}

/** The file extension of the path, such as `.png`, or nothing. It only makes the link easier to read. */
const extensionOf = ({ pathname }: URL): string =>
  /\.[a-z0-9]{1,5}$/i.exec(pathname)?.[0].toLowerCase() ?? '';
