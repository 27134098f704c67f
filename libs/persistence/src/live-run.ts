import type { Run } from './entities/run.entity.js';
import type { PayloadBody } from './run-facts.js';

/** How long what a provider answered is kept for a database that is away; longer, and the run's outcome is unknown. */
export const retryForMs = 120_000;

/** When a run came from one stage to the next. */
export type RunTimes = Pick<Run, 'admittedAt' | 'grantedAt' | 'dispatchedAt' | 'outputAt' | 'completedAt'>;

/** The facts of a run that every step of its life needs. */
export type LiveRun = Pick<Run, 'epoch' | 'workspaceId' | 'provider' | 'model' | 'facts'>;

/** A run with the claim under which it is written, and the workspace whose row is locked for that. */
export interface ClaimedRun extends Pick<Run, 'epoch' | 'workspaceId'> {
  runId: string;
}

/** The facts that a poll needs of its run. */
export interface Poll
  extends
    LiveRun,
    Pick<Run, 'stage' | 'handle' | 'reportedMicros' | 'lostPolls' | 'slowReadings' | 'progress' | 'crashes'> {
  /** The time budget is spent, by the database's clock. */
  overdue: boolean;
  /** Milliseconds left of the time budget. */
  leftMs: number;
  cancelDue: boolean;
  cancelRequested: boolean;
  /** The provider asked for no polls in this time, in milliseconds; null when it did not. */
  pausedMs: number | null;
  /** The outbox row rests while a job polls; it falls due soon and should be moved. */
  dueSoon: boolean;
}

/** A run whose output waits for its assets to be copied. */
export interface Copying extends LiveRun, Pick<Run, 'crashes'> {
  /** The time budget is spent, by the database's clock. */
  overdue: boolean;
  mediaType: string;
  body: PayloadBody;
}
