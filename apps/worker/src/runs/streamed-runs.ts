import { every } from '#observability';
import { DatabaseOutage, RunRepository } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable } from '@nestjs/common';

/** How often the row is read, because a signal may be lost. */
const checkEveryMs = 5_000;

/** Watches whether callers cancel runs whose call to the provider can be stopped. */
@Injectable()
export class CancelWatch {
  constructor(
    private readonly runs: RunRepository,
    private readonly signals: RunSignals,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  /** The signal aborts when the run's caller asks to cancel it. Disposing of the watch ends it. */
  begin(runId: string): { signal: AbortSignal } & Disposable {
    const cancelled = new AbortController();
    const check = async () => {
      if (await this.runs.isCancelRequested(runId)) cancelled.abort();
    };
    const checks = every(checkEveryMs, check, {
      onError: (error) =>
        this.outage.warn({ error, run_id: runId }, 'could not read whether a run was cancelled, retrying'),
      immediately: true,
    });
    const unsubscribe = this.signals.subscribe(runId, () => void check().catch(() => {}));
    return {
      signal: cancelled.signal,
      [Symbol.dispose]: () => {
        unsubscribe();
        void checks.stop();
      },
    };
  }
}
