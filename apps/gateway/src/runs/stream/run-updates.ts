import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, Metrics, type PeriodicWork } from '#observability';
import { HeldRunRepository, type LiveState, RunReader } from '#persistence';
import { RunSignals } from '#queue';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { foundRun } from '../found-run.js';
import type { HeldSettings } from '../held/settings.js';
import { Follower } from './follower.js';

/** A stream without news says so after this time, so that nothing between takes it for dead. */
const quietMs = 15_000;

interface FollowedRun {
  workspaceId: string;
  modelId: string;
  runId: string;
}

/**
 * Follows runs for those who want to be told of each change. The end of a run is told by its signal; one query a second
 * for all runs that are followed here finds everything else, and ends whose signal was lost.
 */
@Injectable()
export class RunUpdates implements OnModuleDestroy {
  private readonly followed = new Map<string, Set<Follower>>();
  private readonly looks: PeriodicWork;
  private isStopping = false;

  constructor(
    private readonly runs: RunReader,
    private readonly held: HeldRunRepository,
    private readonly signals: RunSignals,
    @Inject(SETTINGS) private readonly settings: HeldSettings,
    private readonly metrics: Metrics,
    @Inject(LOG) log: Log,
  ) {
    this.looks = every(settings.SYNC_CHECK_MS, () => this.look(), {
      onError: (error) =>
        log.warn(
          { error, followed_runs: this.followed.size },
          'the runs that are followed could not be read',
        ),
    });
  }

  /** Streams end cleanly, so that their clients go on at another gateway. */
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const followers of this.followed.values()) for (const follower of followers) follower.end();
    void this.looks.stop();
  }

  /**
   * The state of the run at once, then after each change, at last as completed; null after each 15 s without one.
   * Ends before that when `gone` aborts, at the bound of synchronous calls, and when this gateway stops. The first
   * step throws what a status call would answer.
   */
  async *follow(run: FollowedRun, gone: AbortSignal): AsyncGenerator<LiveState | null> {
    const follower = new Follower(this.settings.SYNC_DEADLINE_MS);
    // Before the first read: what is signalled between the two must not be missed.
    const leave = this.enter(run.runId, follower);
    const end = () => follower.end();
    gone.addEventListener('abort', end);
    if (gone.aborted || this.isStopping) end();
    try {
      let state: LiveState = foundRun(await this.runs.state(run.workspaceId, run.modelId, run.runId));
      for (;;) {
        follower.told = state;
        yield state;
        if (state.stage === 'completed') return;
        const next = yield* this.nextOf(run, follower);
        if (next === null) return;
        state = next;
      }
    } finally {
      gone.removeEventListener('abort', end);
      leave();
    }
  }

  /** The next state that differs from the one that was told; null at the end. */
  private async *nextOf(run: FollowedRun, follower: Follower): AsyncGenerator<null, LiveState | null> {
    for (;;) {
      const news = await follower.next(quietMs);
      if (news === 'ended') return null;
      const next = news === 'signalled' ? await this.read(run) : follower.found;
      if (news === 'quiet') yield null;
      else if (next && !isSame(next, follower.told)) return next;
    }
  }

  /** A read that the database does not answer is made up for by the next look. */
  private async read({ workspaceId, modelId, runId }: FollowedRun): Promise<LiveState | undefined> {
    try {
      return foundRun(await this.runs.state(workspaceId, modelId, runId));
    } catch (error) {
      if (error instanceof RouterError && error.bucket === 'service_unavailable') return undefined;
      throw error;
    }
  }

  private enter(runId: string, follower: Follower): () => void {
    const unsubscribe = this.signals.subscribe(runId, () => follower.wake('signalled'));
    const followers = this.followed.get(runId) ?? new Set();
    this.followed.set(runId, followers.add(follower));
    this.metrics.statusStreams.inc();
    return () => {
      unsubscribe();
      followers.delete(follower);
      if (followers.size === 0 && this.followed.get(runId) === followers) this.followed.delete(runId);
      this.metrics.statusStreams.dec();
    };
  }

  private async look(): Promise<void> {
    if (this.followed.size === 0) return;
    for (const state of await this.held.statesOf([...this.followed.keys()])) {
      for (const follower of this.followed.get(state.runId) ?? [])
        if (!isSame(state, follower.told)) follower.wake('found', state);
    }
  }
}

const isSame = (one: LiveState, other: LiveState | undefined): boolean =>
  one.stage === other?.stage && one.position === other.position && one.progress === other.progress;
