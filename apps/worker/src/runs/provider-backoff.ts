import { type Log, LOG, Metrics } from '#observability';
import { ProviderPauseRepository } from '#persistence';
import type { ProviderFailure } from '#providers';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';

/** A refusal that says how long to wait (Retry-After) pauses the provider for every run, on every worker. */
@Injectable()
export class ProviderBackoff {
  constructor(
    private readonly pauses: ProviderPauseRepository,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'PROVIDER_MAX_PAUSE_MS'>,
    private readonly metrics: Metrics,
    @Inject(LOG) private readonly log: Log,
  ) {}

  async record(provider: string, calls: 'submit' | 'poll', failure: ProviderFailure): Promise<void> {
    const { class: failureClass, afterMs = 0, note = 'a refusal' } = failure;
    if (failureClass !== 'provider_unavailable' || afterMs === 0) return;
    this.metrics.asksToWait.inc({ provider, calls });
    const forMs = Math.min(afterMs, this.settings.PROVIDER_MAX_PAUSE_MS);
    const reason = `${note}, asked for ${afterMs / 1000} s`;
    try {
      if (await this.pauses.pauseFor(provider, calls, forMs, reason))
        this.log.warn({ provider, calls, for_ms: forMs, note }, 'a provider asks to be left alone');
    } catch (error) {
      // It costs other runs a refusal each; this one waits all the same.
      this.log.warn({ error, provider, calls }, 'the pause that a provider asked for could not be recorded');
    }
  }
}
