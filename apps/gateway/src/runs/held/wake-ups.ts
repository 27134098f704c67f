import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { HeldRunRepository } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import type { HeldSettings } from './settings.js';

export interface Watch {
  /**
   * Resolves at the next signal that the run may have its outcome, at the latest when `signal` ends; with what came
   * along of that outcome.
   */
  next(signal: AbortSignal): Promise<Buffer | undefined>;
  end(): void;
}

/**
 * Wakes held calls when their run may have its outcome. Normally the run's signal does; one query per second for all
 * held calls of this gateway finds the runs whose signal was lost.
 */
@Injectable()
export class WakeUps implements OnModuleDestroy {
  private readonly watched = new Map<string, Set<() => void>>();
  private readonly checks: PeriodicWork;
  private readonly closing = new AbortController();

  constructor(
    private readonly held: HeldRunRepository,
    private readonly signals: RunSignals,
    @Inject(SETTINGS) settings: HeldSettings,
    @Inject(LOG) log: Log,
  ) {
    // Every held call listens to it.
    setMaxListeners(0, this.closing.signal);
    this.checks = every(settings.SYNC_CHECK_MS, () => this.check(), {
      onError: (error) =>
        log.warn({ error, held_runs: this.watched.size }, 'the runs of held calls could not be checked'),
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
    let told: Buffer | undefined;
    let wake: (() => void) | undefined;
    const waker = (news?: Buffer) => {
      woken = true;
      told ??= news;
      wake?.();
    };
    const unsubscribe = this.signals.subscribe(runId, waker);
    const wakers = this.watched.get(runId) ?? new Set();
    this.watched.set(runId, wakers.add(waker));
    return {
      next: (signal) =>
        new Promise((resolve) => {
          const settle = () => {
            signal.removeEventListener('abort', settle);
            woken = false;
            wake = undefined;
            resolve(told);
          };
          if (woken || signal.aborted) return settle();
          signal.addEventListener('abort', settle);
          wake = settle;
        }),
      end: () => {
        unsubscribe();
        wakers.delete(waker);
        if (wakers.size === 0) this.watched.delete(runId);
      },
    };
  }

  private async check(): Promise<void> {
    if (this.watched.size === 0) return;
    const completed = await this.held.completedOf([...this.watched.keys()]);
    for (const runId of completed) for (const waker of this.watched.get(runId) ?? []) waker();
  }
}
