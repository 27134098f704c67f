import type { Queue } from 'bullmq';

/** The three kinds of lane. On Redis a dispatch lane exists per provider; elsewhere one serves all of them. */
export type LaneKind = 'dispatch' | 'poll' | 'assets';

/** What is carried: a run id and where it goes. Everything else about a run is read from its row. */
export interface Delivery {
  lane: LaneKind;
  provider: string;
  runId: string;
  /** Not before this many milliseconds from now; 0 means at once. */
  afterMs: number;
}

/** What a handler asks for: `done` drops the job, `again` delivers the same job once more later. */
export type Verdict = { kind: 'done' } | { kind: 'again'; afterMs: number };

/**
 * `signal` aborts when the job's lock is lost or the worker closes: stop, write nothing more. `crashes` is how
 * often in a row a handler of this job never returned because its process died or froze; it is 0 again after
 * one that did, and after the server lost the job.
 */
export type Handler = (runId: string, signal: AbortSignal, crashes: number) => Promise<Verdict>;

export interface Consumption {
  lane: LaneKind;
  /** Ignored by lanes that are not per provider. */
  provider: string;
  concurrency: number;
  handle: Handler;
}

export interface Consumer {
  /** Stops fetching, waits for running handlers at most `graceMs`, then aborts them. */
  close(graceMs: number): Promise<void>;
}

export interface LaneCounts {
  lane: LaneKind;
  provider: string | null;
  waiting: number;
  active: number;
  delayed: number;
}

/**
 * Carries run ids from gateway to worker and wake-ups back. Everything in it may vanish at any moment:
 * the delivery sweep puts it back. No method throws because the server behind it is away, and none
 * waits for it longer than the command timeout.
 */
export interface Transport {
  readonly kind: 'redis' | 'postgres';
  /** True for each item that was accepted; false ones are left to the sweep. */
  deliver(items: readonly Delivery[]): Promise<boolean[]>;
  /** Brings a delayed job forward to now; does nothing when there is none. */
  hasten(lane: LaneKind, provider: string, runId: string): Promise<void>;
  consume(consumption: Consumption): Consumer;
  /** Tells every waiter of the run that its row has changed. */
  announce(runId: string): Promise<void>;
  /**
   * Calls `wake` on each announcement of the run until the returned function is called, and once after
   * every reconnection, because announcements made meanwhile are lost.
   */
  listen(runId: string, wake: () => void): () => void;
  /** The lanes that this process has delivered to or consumes; empty while the server is away. */
  counts(): Promise<LaneCounts[]>;
  /** The queues under those lanes, for the board alone. */
  queues(): readonly Queue[];
  /** Whether the server is there and takes deliveries. */
  healthy(): Promise<boolean>;
  /** Closes consumers that are still open without grace, then queues, then connections; at most 5 s. */
  close(): Promise<void>;
}

/** The part of a pino logger that the transport uses. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
