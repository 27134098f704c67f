import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { failpoint, type Log, LOG, Metrics, withTimeout } from '#observability';
import type { ClaimedRun } from '#persistence';
import type { BoundProvider } from '#providers';
import { AssetStore, runKeys, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { Payloads } from '../bytes/payloads.js';
import { faultOf } from '../calls/fault.js';
import { discardBody } from '../calls/provider-client.js';
import type { WorkerSettings } from '../settings.js';
import { AssetSource, type CopyTrouble, NotCopied } from './asset-source.js';
import type { FoundAsset } from '../bytes/found-assets.js';

/** Assets of one result that are copied side by side, and in all; the URLs of others stay the provider's. */
const copiesAtOnce = 4;
const maxCount = 64;

/** An asset in our own store, and the URL that opens it there. */
export interface Copy {
  key: string;
  url: string;
}

type CopiedRun = Pick<ClaimedRun, 'runId' | 'workspaceId'>;

/** Copies assets to the store. One that cannot be copied in time keeps the provider's URL. */
@Injectable()
export class AssetCopies {
  constructor(
    private readonly source: AssetSource,
    private readonly payloads: Payloads,
    private readonly store: AssetStore,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * The copies by the provider's URL; one that is missing was not copied. Several are made side by side, so that one that
   * hangs holds up none of the others, and all under one time limit: a silent host costs a result that much once, however
   * many assets it has.
   */
  async copyAll(
    run: CopiedRun,
    assets: readonly FoundAsset[],
    provider: BoundProvider,
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
            // Nothing is wrong with the asset: the job comes again when the database is back.
            if (error instanceof RouterError) throw error;
            const isLate = bounded.aborted && !(error instanceof NotCopied);
            const trouble = isLate ? 'timeout' : troubleOf(error);
            this.metrics.assetCopies.inc({ outcome: trouble });
            // Neither the URL, which may open the asset for everyone, nor the provider's words.
            const facts = { run_id: run.runId, asset: index, trouble };
            this.log.warn(facts, 'an asset was not copied: its URL stays the provider’s');
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
    provider: BoundProvider,
    signal: AbortSignal,
  ): Promise<Copy> {
    if (index >= maxCount) throw new NotCopied('too_many', 'is one of too many');
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
      // The provider's URL may still come to hold the file; an empty copy never does.
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

function troubleOf(error: unknown): CopyTrouble {
  if (error instanceof NotCopied) return error.trouble;
  if (error instanceof StorageError) return error.failure === 'too_large' ? 'too_large' : 'store';
  const fault = faultOf(error);
  return fault.fault === 'not_sent' && fault.cause === 'refused_address' ? 'refused_address' : 'unreachable';
}

/** `.png`, when the path ends like that; it only makes the link easier to read. */
const extensionOf = ({ pathname }: URL): string =>
  /\.[a-z0-9]{1,5}$/i.exec(pathname)?.[0].toLowerCase() ?? '';
