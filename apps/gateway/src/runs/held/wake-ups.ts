import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { HeldRunRepository } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { SETTINGS } from '../../settings.module.js';
import type { HeldSettings } from './settings.js';

interface Watch {
  /** Resolves at the next sign that the run may have its outcome, at the latest when `signal` ends. */
  next(signal: AbortSignal): Promise<void>;
  end(): void;
}

/**
 * Tells held calls when to look at their run's row. The signal comes first; behind it one query a second
 * for all held calls of this gateway finds what a signal failed to say.
 */
@Injectable()
export class WakeUps implements OnModuleDestroy {
  private readonly watched = new Map<string, Set<() => void>>();
  private readonly checks: PeriodicWork;
  private readonly closing = new AbortController();

  constructor(
    private readonly holding: HeldRunRepository,
    private readonly signals: RunSignals,
    @Inject(SETTINGS) settings: HeldSettings,
    @Inject(LOG) log: Log,
  ) {
    this.checks = every(settings.SYNC_CHECK_MS, () => this.check(), {
      onError: (error) =>
        log.warn({ error, held: this.watched.size }, 'held calls could not look at their runs'),
    });
  }

  /** Ends when this gateway stops: held calls then answer as at their deadline. */
  get stopping(): AbortSignal {
    return this.closing.signal;
  }

  onModuleDestroy(): void {
    this.closing.abort();
    void this.checks.stop();
  }

  watch(runId: string): Watch {
    let woken = false;
    let wake: (() => void) | undefined;
    const ring = () => {
      woken = true;
      wake?.();
    };
    const unsubscribe = this.signals.subscribe(runId, ring);
    const rings = this.watched.get(runId) ?? new Set();
    this.watched.set(runId, rings.add(ring));
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
        unsubscribe();
        rings.delete(ring);
        if (rings.size === 0) this.watched.delete(runId);
      },
    };
  }

  private async check(): Promise<void> {
    if (this.watched.size === 0) return;
    const completed = await this.holding.completedOf([...this.watched.keys()]);
    for (const runId of completed) for (const ring of this.watched.get(runId) ?? []) ring();
  }
}
