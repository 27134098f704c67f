import type { Log } from '#observability';
import type { HeldRunRepository } from '#persistence';
import type { Transport } from '#queue';

interface Watch {
  /** Resolves at the next sign that the run may have its outcome, at the latest when `signal` ends. */
  next(signal: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Tells held calls when to look at their run's row. The transport's announcement comes first; behind it one
 * query a second for all held calls of this gateway finds what an announcement failed to say.
 */
export class WakeUps {
  private readonly watched = new Map<string, Set<() => void>>();
  private readonly closing = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly holding: HeldRunRepository,
    private readonly transport: Transport,
    private readonly everyMs: number,
    private readonly log: Log,
  ) {}

  /** Ends when this gateway stops: held calls then answer as at their deadline. */
  get stopping(): AbortSignal {
    return this.closing.signal;
  }

  stop(): void {
    this.closing.abort();
    clearTimeout(this.timer);
  }

  watch(runId: string): Watch {
    let woken = false;
    let wake: (() => void) | undefined;
    const ring = () => {
      woken = true;
      wake?.();
    };
    const unlisten = this.transport.listen(runId, ring);
    const rings = this.watched.get(runId) ?? new Set();
    this.watched.set(runId, rings.add(ring));
    this.timer ??= this.checkLater();
    return {
      next: (signal) =>
        new Promise((resolve) => {
          const settle = () => {
            signal.removeEventListener('abort', settle);
            woken = false;
            wake = undefined;
            resolve();
          };
          if (woken || signal.aborted) return settle();
          signal.addEventListener('abort', settle);
          wake = settle;
        }),
      end: () => {
        unlisten();
        rings.delete(ring);
        if (rings.size === 0) this.watched.delete(runId);
      },
    };
  }

  private checkLater(): NodeJS.Timeout {
    return setTimeout(() => void this.check(), this.everyMs).unref();
  }

  private async check(): Promise<void> {
    try {
      const completed = await this.holding.completedOf([...this.watched.keys()]);
      for (const runId of completed) for (const ring of this.watched.get(runId) ?? []) ring();
    } catch (error) {
      this.log.warn({ error, held: this.watched.size }, 'held calls could not look at their runs');
    }
    const goesOn = this.watched.size > 0 && !this.closing.signal.aborted;
    this.timer = goesOn ? this.checkLater() : undefined;
  }
}
