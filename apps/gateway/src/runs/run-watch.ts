import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { every, type PeriodicWork } from '#observability';
import { DatabaseOutage, HeldRunRepository, type LiveState } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { HttpSettings } from '../http/settings.js';
import { type HeldSettings, holdWhileStoppingMs } from './held/settings.js';

/** A watch without news yields null after this time, so that a stream can send a keep-alive. */
const quietMs = 15_000;

/** The outcome that a signal carried, a state of the row, or neither if the row must be read. */
interface RunNews {
  outcome?: Buffer | undefined;
  state?: LiveState;
}

/** A held call must get its answer from this gateway; a status stream can continue at another one. */
type Watcher = 'call' | 'stream';

/**
 * Watches runs for held calls and status streams. Signals report most changes of a run. One query a second for all
 * watched runs of this gateway finds the other changes, and those whose signal was lost.
 */
@Injectable()
export class RunWatch implements OnModuleDestroy, OnApplicationShutdown {
  private readonly checks: PeriodicWork;
  private readonly streams = new Set<Watch>();
  /** Watchers that this gateway, which is stopping, no longer serves. */
  private readonly dismissed = new Set<Watcher>();

  constructor(
    private readonly held: HeldRunRepository,
    private readonly signals: RunSignals<LiveState>,
    @Inject(SETTINGS) private readonly settings: HeldSettings & Pick<HttpSettings, 'CLOSE_TIMEOUT_MS'>,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    this.checks = every(settings.SYNC_CHECK_MS, () => this.checkRows(), {
      onError: (error) =>
        outage.warn({ error, watched_runs: signals.runIds.length }, 'could not read the watched runs'),
    });
  }

  /**
   * Ends status streams at once, because their clients reconnect to another gateway. Held calls continue: the module is
   * shut down when they have their answers. Those that are left near the time limit answer as at their deadline.
   */
  onModuleDestroy(): void {
    this.dismissed.add('stream');
    for (const stream of this.streams) stream.wake();
    setTimeout(() => {
      this.dismissed.add('call');
      this.signals.wakeAll();
    }, holdWhileStoppingMs(this.settings)).unref();
  }

  onApplicationShutdown(): void {
    void this.checks.stop();
  }

  /** Subscribes immediately, so that no signal from now on is missed. The watch must be closed. */
  begin(runId: string, gone: AbortSignal, watcher: Watcher = 'call'): Watch {
    const endsAtMs = performance.now() + this.settings.SYNC_DEADLINE_MS;
    const unsubscribe = this.signals.subscribe(runId, (outcome, state) => watch.wake(outcome, state));
    const watch: Watch = new Watch(
      endsAtMs,
      () => gone.aborted || this.dismissed.has(watcher),
      () => {
        unsubscribe();
        this.streams.delete(watch);
      },
    );
    if (watcher === 'stream') this.streams.add(watch);
    gone.addEventListener('abort', () => watch.wake(), { once: true });
    return watch;
  }

  private async checkRows(): Promise<void> {
    const { runIds } = this.signals;
    if (runIds.length === 0) return;
    for (const state of await this.held.statesOf(runIds)) this.signals.wake(state.runId, undefined, state);
  }
}

/** A caller that waits for news of a run. */
export class Watch {
  /** The state that the caller already knows; the same state is not news. */
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
    // A signal takes precedence: the row is newer than a state that a check may have read before it.
    else if ((this.news === undefined || this.news.state) && !isSame(state, this.known))
      this.news = { state };
    if (this.news) this.resume();
  }

  /**
   * Yields the news of the run, and null after each quiet period. Ends when the caller disconnects, at the time limit
   * of synchronous calls, and when this gateway stops and dismisses the watcher. An outcome that has arrived by then is
   * still yielded.
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

/**
 * The result of a query; undefined if the database does not answer, because the next check of the rows makes up for
 * it.
 */
export async function unlessAway<T>(query: Promise<T>): Promise<T | undefined> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof RouterError && error.bucket === 'service_unavailable') return undefined;
    throw error;
  }
}
