import { failpoint, type Log } from '#observability';
import type { RunRepository, PayloadBody } from '#persistence';
import type { ProviderOutput } from '#providers';
import type { Transport } from '#queue';
import { runKeys } from '#storage';
import { findAssets } from '../assets/found-assets.js';
import type { Payloads } from '../bytes/payloads.js';
import type { Finishing, Outcomes } from './outcomes.js';

/** Takes over what a generation brought: to its outcome at once, or first to the copying of its assets. */
export class Results {
  constructor(
    private readonly dispatching: RunRepository,
    private readonly payloads: Payloads,
    private readonly outcomes: Outcomes,
    private readonly transport: Transport,
    private readonly log: Log,
  ) {}

  async take(run: Finishing, output: ProviderOutput): Promise<void> {
    const { runId, epoch } = run;
    const { mediaType } = output;
    const hasAssets = !('storedAs' in output.body) && findAssets(output.body, run.assets).length > 0;
    const body = await this.kept(runId, output);
    if (!hasAssets) {
      await this.outcomes.finish(run, { outcome: 'succeeded', mediaType, body });
      return;
    }
    if (!(await this.dispatching.keepOutput(runId, epoch, mediaType, body))) {
      this.log.info({ run_id: runId }, 'an output came too late: the claim was lost');
      return;
    }
    await failpoint('results.afterKeep', runId);
    const { provider } = run;
    const [accepted] = await this.transport.deliver([{ lane: 'assets', provider, runId, afterMs: 0 }]);
    if (!accepted) await this.dispatching.leaveToReconciler(runId, 0);
  }

  private async kept(runId: string, { mediaType, body }: ProviderOutput): Promise<PayloadBody> {
    if ('storedAs' in body) return body;
    return this.payloads.keep(runKeys.reply(runId), runId, mediaType, body);
  }
}
