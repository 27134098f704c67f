import { SETTINGS } from '#infrastructure';
import { failpoint, noteCall, runAttributes, TRACING, type Tracing } from '#observability';
import { type Copying, RunRepository } from '#persistence';
import { type DeliveredRun, done, type JobResult, maxSlotless, retryIn } from '#queue';
import { runKeys, StorageError } from '#storage';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import { Payloads } from '../bytes/payloads.js';
import { ProviderKeys } from '../keys/provider-keys.js';
import { Providers } from '../providers.js';
import { countAttempt, deathsOf } from '../runs/crash-counts.js';
import type { OngoingRun } from '../runs/ongoing-run.js';
import { Outcomes } from '../runs/outcomes.js';
import type { WorkerSettings } from '../settings.js';
import { AssetCopies, type Copy } from './asset-copies.js';
import { type FoundAsset, findAssets, withCopies } from '../bytes/found-assets.js';
import { ProviderSlotsProcessor } from '../slotted.processor.js';

/** After this many consecutive crashes while copying, a run's result is delivered without copies. */
const maxCrashes = 3;
const later = retryIn(1_000);
const now = retryIn(0);

/**
 * Copies the assets of a finished run to the store and writes the run's outcome. The provider bills the run
 * anyway, so its result is delivered whatever happens to the copies.
 */
@Processor('assets', { concurrency: maxSlotless })
export class AssetsProcessor extends ProviderSlotsProcessor {
  readonly queue = 'assets';

  constructor(
    private readonly runs: RunRepository,
    private readonly outcomes: Outcomes,
    private readonly payloads: Payloads,
    private readonly providers: Providers,
    private readonly keys: ProviderKeys,
    private readonly assetCopies: AssetCopies,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {
    super(settings, { max: settings.WORKER_ASSET_CONCURRENCY });
  }

  protected async work({ runId, mayHaveCrashed }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const copying = await this.runs.readForCopying(runId);
    if (copying === null) return done;
    noteCall(runId, copying.facts.callId);
    const run = { ...copying, runId };
    await using _attempt = await countAttempt(this.runs, run, mayHaveCrashed);
    const bound = this.providers.get(copying.provider);
    if (bound === undefined) return later;
    const key = await this.keys.keyOf(bound, copying);
    // Without its key, assets that need one keep the provider's URLs.
    const provider = { ...bound, key: key === 'gone' ? undefined : key };
    await this.runs.moveDue(run, this.settings.ASSET_COPY_MS);
    const startedAtMs = Date.now();
    try {
      using share = this.payloads.openShare(copying.workspaceId);
      const bytes = await this.payloads.readBody(copying.body, share, signal);
      const assets = findAssets(bytes, copying.facts.assets);
      const copies =
        deathsOf(copying) < maxCrashes
          ? await this.assetCopies.copyAll(run, assets, provider, signal)
          : new Map<string, Copy>();
      // The copies were interrupted. The next worker starts them again.
      if (signal.aborted) return now;
      await failpoint('copying.beforeFinish', runId);
      // An attempt that is interrupted gets no span: while the store is down there is one a second.
      using _span = this.tracing.start({
        name: 'assets',
        kind: 'consumer',
        parent: run.facts.traceparent,
        attributes: { ...runAttributes({ ...run, callId: run.facts.callId }), 'router.copied': copies.size },
        startedAtMs,
      });
      return await this.finishRun(run, bytes, assets, copies);
    } catch (error) {
      if (signal.aborted) return now;
      if (error instanceof StorageError) {
        this.log.warn({ error, run_id: runId }, 'could not read the output from the store, retrying');
        if (error.failure !== 'not_found' || !copying.overdue) return later;
        return await this.outcomes.loseAnswer(run, 'output missing from the store');
      }
      throw error;
    }
  }

  private async finishRun(
    run: Copying & OngoingRun,
    bytes: Uint8Array,
    assets: readonly FoundAsset[],
    copies: ReadonlyMap<string, Copy>,
  ): Promise<JobResult> {
    const { runId, mediaType } = run;
    const body =
      copies.size === 0
        ? run.body
        : await this.payloads.keepBody(
            runKeys.output(runId),
            runId,
            mediaType,
            withCopies(bytes, assets, copies),
          );
    await this.outcomes.finishRun(run, {
      outcome: 'succeeded',
      mediaType,
      body,
      copies: {
        keys: [...copies.values()].map(({ key }) => key),
        openUntilMs: Date.now() + this.settings.ASSET_URL_TTL * 1000,
      },
      providerUrls: assets.some(({ url }) => !copies.has(url)),
    });
    return done;
  }
}
