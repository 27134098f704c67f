import { every } from '#observability';
import { DatabaseOutage, RunRepository, type StreamFacts } from '#persistence';
import { RunSignals, RunStreams } from '#queue';
import { Inject, Injectable } from '@nestjs/common';
import type { PassOn } from '../calls/event-stream.js';

/** How often the row is read, because a signal may be lost. */
const checkEveryMs = 5_000;

interface StreamedRun extends Disposable {
  /** Aborts when the run's caller asks to cancel it. */
  signal: AbortSignal;
  /** Undefined if nobody waits for the events. */
  passOn: PassOn | undefined;
}

/** Connects runs whose provider streams with their callers, who receive the events and may stop them. */
@Injectable()
export class StreamedRuns {
  constructor(
    private readonly runs: RunRepository,
    private readonly streams: RunStreams,
    private readonly signals: RunSignals,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  /** Disposing of it ends the watch for a cancellation. */
  begin(runId: string, { isLive }: StreamFacts): StreamedRun {
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
      passOn: isLive ? (mediaType) => this.streams.open(runId, mediaType) : undefined,
      [Symbol.dispose]: () => {
        unsubscribe();
        void checks.stop();
      },
    };
  }
}
