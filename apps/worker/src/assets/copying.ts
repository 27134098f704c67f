import { RouterError } from '#errors';
import { failpoint, type Log, type Metrics } from '#observability';
import type { Copying, RunRepository } from '#persistence';
import type { BoundProvider } from '#providers';
import type { Verdict } from '#queue';
import { type AssetStore, runKeys, StorageError } from '#storage';
import { discard } from '../calls/discard.js';
import { faultOf } from '../calls/fault.js';
import type { ByteBudget, Share } from '../bytes/byte-budget.js';
import type { Payloads } from '../bytes/payloads.js';
import { finishing, type Outcomes } from '../life/outcomes.js';
import { type AssetSource, type CopyTrouble, NotCopied } from './asset-source.js';
import { type FoundAsset, findAssets, withCopies } from './found-assets.js';
import type { Providers } from '../providers.js';

interface CopyParts {
  dispatching: RunRepository;
  store: AssetStore;
  source: AssetSource;
  payloads: Payloads;
  budget: ByteBudget;
  outcomes: Outcomes;
  providers: Pick<Providers, 'get'>;
  metrics: Metrics;
  log: Log;
}

interface CopyOptions {
  ASSET_URL_TTL: number;
  ASSET_MAX_BYTES: number;
  ASSET_MAX_COUNT: number;
  ASSET_COPY_MS: number;
  ASSET_COPIES_AT_ONCE: number;
  MAX_COPY_CRASHES: number;
}

/** An asset in our own store, and the URL that opens it there. */
interface Copy {
  key: string;
  url: string;
}

const later: Verdict = { kind: 'again', afterMs: 1000 };
const done: Verdict = { kind: 'done' };

/**
 * Copies the assets of a finished generation to the store and writes the run's outcome. An asset that cannot be
 * copied keeps the partner's URL: the generation is paid, and its result is delivered whatever happens here.
 */
export class AssetCopying {
  constructor(
    private readonly parts: CopyParts,
    private readonly options: CopyOptions,
  ) {}

  /** `crashes`: how often in a row a worker died over this job. */
  async handle(runId: string, signal: AbortSignal, crashes: number): Promise<Verdict> {
    const copying = await this.parts.dispatching.readForCopying(runId);
    if (copying === null) return done;
    const provider = this.parts.providers.get(copying.provider);
    if (provider === undefined) return later;
    await this.parts.dispatching.moveDue(runId, this.options.ASSET_COPY_MS);
    return this.parts.budget.during((share) =>
      this.deliver(runId, copying, provider, share, signal, crashes),
    );
  }

  private async deliver(
    runId: string,
    copying: Copying,
    provider: BoundProvider,
    share: Share,
    signal: AbortSignal,
    crashes: number,
  ): Promise<Verdict> {
    try {
      const bytes = await this.parts.payloads.read(copying.body, share, signal);
      const assets = findAssets(bytes, copying.facts.assets);
      const copies =
        crashes < this.options.MAX_COPY_CRASHES
          ? await this.copyAll(runId, assets, provider, signal)
          : new Map<string, Copy>();
      // Begun copies were cut short: a worker that goes on makes them.
      if (signal.aborted) return { kind: 'again', afterMs: 0 };
      await failpoint('copying.beforeFinish', runId);
      await this.finish(runId, copying, bytes, assets, copies);
      return done;
    } catch (error) {
      if (signal.aborted) return { kind: 'again', afterMs: 0 };
      if (error instanceof StorageError) {
        this.parts.log.warn(
          { error, run_id: runId },
          'the output could not be read from the store, trying again',
        );
        return later;
      }
      throw error;
    }
  }

  private async finish(
    runId: string,
    copying: Copying,
    bytes: Uint8Array,
    assets: readonly FoundAsset[],
    copies: ReadonlyMap<string, Copy>,
  ): Promise<void> {
    const { mediaType } = copying;
    const body =
      copies.size === 0
        ? copying.body
        : await this.parts.payloads.keep(
            runKeys.output(runId),
            runId,
            mediaType,
            withCopies(bytes, assets, copies),
          );
    await this.parts.outcomes.finish(finishing(runId, copying), {
      outcome: 'succeeded',
      mediaType,
      body,
      copies: {
        keys: [...copies.values()].map(({ key }) => key),
        openUntilMs: Date.now() + this.options.ASSET_URL_TTL * 1000,
      },
      providerUrls: assets.some(({ url }) => !copies.has(url)),
    });
  }

  /** Side by side, so that one that hangs holds up none of the others. By the partner's URL. */
  private async copyAll(
    runId: string,
    assets: readonly FoundAsset[],
    provider: BoundProvider,
    signal: AbortSignal,
  ): Promise<Map<string, Copy>> {
    const copies = new Map<string, Copy>();
    const waiting = [...new Set(assets.map(({ url }) => url))].entries();
    const copyInTurn = async () => {
      for (const [index, url] of waiting) {
        const copy = await this.copyOrTell(runId, index, url, provider, signal);
        if (copy) copies.set(url, copy);
      }
    };
    await Promise.all(Array.from({ length: this.options.ASSET_COPIES_AT_ONCE }, copyInTurn));
    return copies;
  }

  private async copyOrTell(
    runId: string,
    index: number,
    url: string,
    provider: BoundProvider,
    signal: AbortSignal,
  ): Promise<Copy | undefined> {
    const late = AbortSignal.timeout(this.options.ASSET_COPY_MS);
    try {
      if (index >= this.options.ASSET_MAX_COUNT) throw new NotCopied('too_many', 'is one of too many');
      const copy = await this.copy(runId, index, new URL(url), provider, AbortSignal.any([signal, late]));
      this.parts.metrics.assetCopies.inc({ outcome: 'copied' });
      return copy;
    } catch (error) {
      if (signal.aborted) return undefined;
      // Nothing is wrong with the asset: the job comes again when the database is back.
      if (error instanceof RouterError) throw error;
      const trouble = late.aborted ? 'timeout' : troubleOf(error);
      this.parts.metrics.assetCopies.inc({ outcome: trouble });
      // Neither the URL, which may open the asset for everyone, nor what the partner said.
      this.parts.log.warn(
        { run_id: runId, asset: index, trouble },
        'an asset was not copied: its URL stays the provider’s',
      );
      return undefined;
    }
  }

  private async copy(
    runId: string,
    index: number,
    url: URL,
    provider: BoundProvider,
    signal: AbortSignal,
  ): Promise<Copy> {
    const { mediaType, body } = await this.parts.source.open(url, provider, signal);
    const key = runKeys.asset(runId, index, extensionOf(url));
    try {
      await failpoint('copying.beforePut', runId);
      const { bytes } = await this.parts.payloads.put(key, runId, body, {
        mediaType,
        maxBytes: this.options.ASSET_MAX_BYTES,
        signal,
      });
      this.parts.metrics.assetCopyBytes.inc(bytes);
      await failpoint('copying.afterPut', runId);
    } finally {
      discard(body);
    }
    return {
      key,
      url: await this.parts.store.sign(key, {
        expiresInSeconds: this.options.ASSET_URL_TTL,
        nowMs: Date.now(),
      }),
    };
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
