import { RouterError } from '#errors';
import { failpoint, type Log, type Metrics, recordRun } from '#observability';
import type { RunRepository, Ending, RunFacts } from '#persistence';
import { type ProviderFailure, toRejection } from '#providers';
import { dispatchNow, type Transport } from '#queue';

/** A run as far as its outcome is concerned. */
export interface Finishing {
  runId: string;
  epoch: number;
  provider: string;
  model: string;
  chargesOnPolicyRejection: 'yes' | 'no' | 'unknown';
  /** Pointers of the asset URLs in its output. */
  assets: readonly string[];
}

/** From the row of a run whose claim stands. */
export const finishing = (
  runId: string,
  { epoch, provider, model, facts }: { epoch: number; provider: string; model: string; facts: RunFacts },
): Finishing => ({
  runId,
  epoch,
  provider,
  model,
  chargesOnPolicyRejection: facts.chargesOnPolicyRejection,
  assets: facts.assets,
});

/** Writes outcomes, and tells whoever waits: held calls, and the runs that now have a slot. */
export class Outcomes {
  constructor(
    private readonly dispatching: RunRepository,
    private readonly transport: Transport,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  async fail(run: Finishing, failure: ProviderFailure): Promise<void> {
    if (failure.class === 'partner_account') this.metrics.accountTrouble.inc({ provider: run.provider });
    const { fields, ...plain } = failure;
    try {
      await this.finish(run, failedEnding(run, failure), failure.note);
    } catch (error) {
      // A database that is away comes back; what it refuses of the partner's words it refuses for ever.
      if (!fields || error instanceof RouterError) throw error;
      this.log.error({ error, run_id: run.runId }, 'the fields of a failure could not be written');
      await this.finish(run, failedEnding(run, plain), failure.note);
    }
  }

  /** The router's own failure. `note` is for the log. False when the run already has its outcome. */
  async failInternally(run: Finishing, detail: string, note: string): Promise<boolean> {
    return this.finish(
      run,
      { outcome: 'failed', bucket: 'internal_error', status: 500, detail, billable: false },
      note,
    );
  }

  /** True when this was the write that counts. */
  async finish(run: Finishing, ending: Ending, note?: string): Promise<boolean> {
    await failpoint('finish.beforeCommit', run.runId);
    const finished = await this.dispatching.finish(run.runId, run.epoch, ending);
    await failpoint('finish.afterCommit', run.runId);
    if (finished.won) {
      recordRun(run.runId, finished.record, this.log, this.metrics, note);
      await this.transport.announce(run.runId);
    } else {
      this.log.info({ run_id: run.runId, note }, 'outcome came too late: the claim was lost');
    }
    await this.transport.deliver(dispatchNow(finished.granted));
    return finished.won;
  }
}

const failedEnding = (run: Finishing, failure: ProviderFailure): Ending => ({
  outcome: 'failed',
  ...toRejection(failure),
  billable: failure.class === 'content_policy' && run.chargesOnPolicyRejection === 'yes',
});
