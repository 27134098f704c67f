import type { Run } from './entities/run.entity.js';
import type { PayloadBody } from './run-facts.js';

/** When a run moved from one stage to the next. */
export type RunTimes = Pick<Run, 'admittedAt' | 'grantedAt' | 'dispatchedAt' | 'outputAt' | 'completedAt'>;

/** The facts of a run that every step needs. */
export type LiveRun = Pick<Run, 'epoch' | 'workspaceId' | 'provider' | 'model' | 'facts'>;

/** A run, the claim (epoch) under which it is written, and the workspace whose row is locked for the write. */
export interface ClaimedRun extends Pick<Run, 'epoch' | 'workspaceId'> {
  runId: string;
}

/** The facts of a run that a poll needs. */
export interface Poll
  extends
    LiveRun,
    Pick<
      Run,
      | 'stage'
      | 'handle'
      | 'providerKey'
      | 'reportedMicros'
      | 'lostPolls'
      | 'slowReadings'
      | 'progress'
      | 'crashes'
    > {
  /** Whether the time budget is spent, by the database's clock. */
  overdue: boolean;
  /** Milliseconds left of the time budget. */
  leftMs: number;
  cancelDue: boolean;
  cancelRequested: boolean;
  /** How long the provider asked not to be polled, in milliseconds. Null if it did not. */
  pausedMs: number | null;
  /** The due time of the outbox row is near and should be moved, because a job is polling the run. */
  dueSoon: boolean;
}

/** A run whose output is stored and whose assets are still to be copied. */
export interface Copying extends LiveRun, Pick<Run, 'crashes' | 'providerKey'> {
  /** Whether the time budget is spent, by the database's clock. */
  overdue: boolean;
  mediaType: string;
  body: PayloadBody;
}
