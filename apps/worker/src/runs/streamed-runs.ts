import { setMaxListeners } from 'node:events';
import { SETTINGS } from '#infrastructure';
import { every } from '#observability';
import { DatabaseOutage, RunRepository, type StreamFacts } from '#persistence';
import { RunSignals, RunStreams } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { PassOn } from '../calls/event-stream.js';
import type { WorkerSettings } from '../settings.js';

/** How often the row is read, because a signal may be lost. */
const checkEveryMs = 5_000;
/** This long before the worker closes, streams without a caller are billed by what is known, or nobody would bill them. */
const billMs = 2_000;

interface StreamedRun extends Disposable {
  /** Aborts when the run's caller asks to cancel it. */
  signal: AbortSignal;
  /** Aborts when this worker is about to stop. */
  closing: AbortSignal;
  /** Undefined if nobody waits for the events. */
  passOn: PassOn | undefined;
}

/** Connects runs whose provider streams with their callers, who receive the events and may stop them. */
@Injectable()
export class StreamedRuns implements OnModuleDestroy {
  private readonly closing = new AbortController();

  constructor(
    private readonly runs: RunRepository,
    private readonly streams: RunStreams,
    private readonly signals: RunSignals,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    // Each stream listens to it.
    setMaxListeners(0, this.closing.signal);
  }

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
      closing: this.closing.signal,
      passOn: isLive ? (mediaType) => this.streams.open(runId, mediaType) : undefined,
      [Symbol.dispose]: () => {
        unsubscribe();
        void checks.stop();
      },
    };
  }

  onModuleDestroy(): void {
    const { WORKER_CLOSE_MS } = this.settings;
    setTimeout(() => this.closing.abort(), Math.max(WORKER_CLOSE_MS - billMs, WORKER_CLOSE_MS / 2)).unref();
  }
}
