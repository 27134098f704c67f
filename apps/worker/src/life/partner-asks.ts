import type { Log, Metrics } from '#observability';
import type { ProviderPauseRepository } from '#persistence';
import type { ProviderFailure } from '#providers';

interface AskLimits {
  PROVIDER_LANE_PAUSE_MS: number;
}

/** A refusal that says how long to stay away speaks to every run of that provider, on every worker. */
export class PartnerAsks {
  constructor(
    private readonly pauses: Pick<ProviderPauseRepository, 'pauseFor'>,
    private readonly limits: AskLimits,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  async heed(provider: string, calls: 'submit' | 'poll', failure: ProviderFailure): Promise<void> {
    const { class: failureClass, afterMs = 0, note = 'a refusal' } = failure;
    if (failureClass !== 'partner_unavailable' || afterMs === 0) return;
    this.metrics.asksToWait.inc({ provider, calls });
    const forMs = Math.min(afterMs, this.limits.PROVIDER_LANE_PAUSE_MS);
    const reason = `${note}, asked for ${afterMs / 1000} s`;
    try {
      if (await this.pauses.pauseFor(provider, calls, forMs, reason))
        this.log.warn({ provider, calls, for_ms: forMs, note }, 'a provider asks to be left alone');
    } catch (error) {
      // It costs other runs a refusal each; this one waits all the same.
      this.log.warn({ error, provider, calls }, 'what a provider asked for could not be noted');
    }
  }
}
