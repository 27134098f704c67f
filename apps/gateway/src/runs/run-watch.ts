import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { HeldRunRepository, type LiveState } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { HeldSettings } from './held/settings.js';

/** A watch without news yields null after this time, so that a stream can show that it is alive. */
const quietMs = 15_000;

/** A signal with the outcome that it announced, a state of the row, or neither when the row has to be read. */
interface RunNews {
  outcome?: Buffer | undefined;
  state?: LiveState;
}

/**
 * Watches runs for held calls and status streams. Signals report most changes of a run; one query a second for all
 * watched runs of this gateway finds the rest, and runs whose signal was lost.
 */
@Injectable()
export class RunWatch implements OnModuleDestroy {
  private readonly checks: PeriodicWork;
  private isStopping = false;

  constructor(
    private readonly held: HeldRunRepository,
    private readonly signals: RunSignals<LiveState>,
    @Inject(SETTINGS) private readonly settings: HeldSettings,
    @Inject(LOG) log: Log,
  ) {
    this.checks = every(settings.SYNC_CHECK_MS, () => this.checkRows(), {
      onError: (error) =>
        log.warn({ error, watched_runs: signals.runIds.length }, 'the watched runs could not be read'),
    });
  }

  /** Ends every watch: held calls answer as at their deadline, and clients of streams go on at another gateway. */
  onModuleDestroy(): void {
    this.isStopping = true;
    this.signals.wakeAll();
    void this.checks.stop();
  }

  /** Begins at once, so nothing that is signalled from now on is missed. It has to be closed. */
  begin(runId: string, gone: AbortSignal): Watch {
    const endsAtMs = performance.now() + this.settings.SYNC_DEADLINE_MS;
    const watch: Watch = new Watch(
      endsAtMs,
      () => gone.aborted || this.isStopping,
      this.signals.subscribe(runId, (outcome, state) => watch.wake(outcome, state)),
    );
    gone.addEventListener('abort', () => watch.wake(), { once: true });
    return watch;
  }

  private async checkRows(): Promise<void> {
    const { runIds } = this.signals;
    if (runIds.length === 0) return;
    for (const state of await this.held.statesOf(runIds)) this.signals.wake(state.runId, undefined, state);
  }
}

/** One caller that waits for news of a run. */
export class Watch {
  /** The state that the caller knows: the same one is no news. */
  known: LiveState | undefined;
  private news: RunNews | undefined;
  private resume = () => {};

  constructor(
    private readonly endsAtMs: number,
    private readonly isOver: () => boolean,
    readonly close: () => void,
  ) {}

  wake(outcome?: Buffer, state?: LiveState): void {
    if (state === undefined) this.news = { outcome: this.news?.outcome ?? outcome };
    // A signal says that the row is newer than the state that a check may have read before it.
    else if ((this.news === undefined || this.news.state) && !isSame(state, this.known))
      this.news = { state };
    if (this.news) this.resume();
  }

  /**
   * The news of the run, and null after each time without any. Ends when the caller has gone, at the bound of synchronous
   * calls and when this gateway stops; an outcome that has come by then is still news.
   */
  async *events(): AsyncGenerator<RunNews | null> {
    for (;;) {
      const leftMs = this.endsAtMs - performance.now();
      if (this.news === undefined && !this.isOver() && leftMs > 0)
        await this.pause(Math.min(quietMs, leftMs));
      const { news } = this;
      this.news = undefined;
      const hasEnded = this.isOver() || performance.now() >= this.endsAtMs;
      if (hasEnded && news?.outcome === undefined) return;
      yield news ?? null;
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

export const isSame = (one: LiveState, other: LiveState | undefined): boolean =>
  one.stage === other?.stage && one.position === other.position && one.progress === other.progress;

/** The result of a query; undefined when the database does not answer, since the next check of all rows makes up for it. */
export async function unlessAway<T>(query: Promise<T>): Promise<T | undefined> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof RouterError && error.bucket === 'service_unavailable') return undefined;
    throw error;
  }
}
