import type { PayloadBody, RunFacts } from './run-facts.js';

/** What a request to dispatch a run is answered. */
export type Claim =
  | {
      kind: 'claimed';
      epoch: number;
      workspaceId: string;
      provider: string;
      model: string;
      facts: RunFacts;
      body: PayloadBody;
      /** Claims of this run that ended without a word. */
      crashes: number;
      /** Milliseconds left of the time budget; null before the first submission. */
      leftMs: number | null;
    }
  | { kind: 'abandoned'; epoch: number; workspaceId: string; provider: string; model: string }
  | { kind: 'held'; freeInMs: number }
  | { kind: 'gone' };

/** What a poll needs to know of its run. */
export interface Poll {
  stage: string;
  epoch: number;
  workspaceId: string;
  provider: string;
  model: string;
  facts: RunFacts;
  handle: unknown;
  reportedMicros: number | null;
  /** The time budget is spent, by the database's clock. */
  overdue: boolean;
  /** Milliseconds left of the time budget. */
  leftMs: number;
  cancelDue: boolean;
  cancelRequested: boolean;
  lostPolls: number;
  /** How far the partner is, as a share of 1. */
  progress: number | null;
  /** The partner asked for no polls in this time, in milliseconds; null when it did not. */
  pausedMs: number | null;
  /** The outbox row falls due soon and should be moved. */
  dueSoon: boolean;
}

/** A run whose output waits for its assets to be copied. */
export interface Copying {
  epoch: number;
  workspaceId: string;
  provider: string;
  model: string;
  facts: RunFacts;
  mediaType: string;
  body: PayloadBody;
}
