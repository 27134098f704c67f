import type { Queue } from 'bullmq';
import type { RunSignals } from './run-signals.js';
import type { RunStreams } from './run-streams.js';
import type { WakeUpListener } from './wake-ups.js';

/** The queues. Each serves all providers. */
export const queueNames = ['poll', 'assets', 'webhooks'] as const;
export type QueueName = (typeof queueNames)[number];

/** A run and its queue. The rest is read from the run's row. */
export interface QueuedRun {
  queue: QueueName;
  provider: string;
  runId: string;
  /** Absent for a run that is due at once. */
  delayMs?: number;
}

/** A run that waits in its row to be dispatched has no queue. */
interface DueRun extends Omit<QueuedRun, 'queue'> {
  queue?: QueueName;
}

export interface QueueCounts {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
}

/**
 * Tells workers which runs are due, and tells callers that their runs have changed. The rows are the source
 * of truth, so everything here may be lost at any moment. With Redis, BullMQ jobs carry polls, copies and
 * webhooks. Without it workers take their rows, and only wake-ups and signals are sent. If the server is
 * down, methods do not throw, and they wait for it hardly longer than the command timeout.
 */
export abstract class RunQueues {
  abstract readonly kind: 'redis' | 'postgres';
  abstract readonly signals: RunSignals;
  abstract readonly streams: RunStreams;
  /** BullMQ's queues, for the board only. Empty without Redis. */
  abstract readonly all: readonly Queue[];
  /** Whether jobs wait while this process takes none, by the last counts. Only a restart helps then. */
  abstract readonly isStuck: boolean;
  /** Whether this process takes jobs or rows. */
  isTaking = false;

  /** Tells a worker that runs wait in their rows for the providers. */
  abstract wake(...providers: string[]): void;
  /** Calls `callback` with the provider of each wake-up until the listener is closed. */
  abstract onWakeUp(callback: (provider: string) => void): WakeUpListener;
  /**
   * Calls `callback` with the milliseconds until a row is due, for each row that a process reports, until the
   * listener is closed. Null if jobs carry the runs.
   */
  abstract onDueRow(callback: (afterMs: number) => void): WakeUpListener | null;
  /** Returns whether each run was accepted; the reconciler handles the others. Queued runs are unchanged. */
  abstract enqueue(runs: readonly QueuedRun[]): Promise<boolean[]>;
  /** Makes a delayed job due now, or makes workers look for due rows. Does nothing without such a job. */
  abstract runNow(queue: QueueName, runId: string): Promise<void>;
  /** The state of the run's job; `queued` is waiting or active. Null without jobs or without an answer. */
  abstract stateOf(queue: QueueName, runId: string): Promise<'missing' | 'delayed' | 'queued' | null>;
  /** Jobs by state. Empty without Redis and while it is down. */
  abstract counts(): Promise<QueueCounts[]>;
  /** Whether the server is reachable and accepts writes. */
  abstract healthy(): Promise<boolean>;
  abstract close(): Promise<void>;

  /** Starts or stops taking jobs. Jobs in progress continue. */
  takeJobs(isTaking: boolean): void {
    this.isTaking = isTaking;
  }

  /** Passes on runs that became due. A run without a queue waits in its row, so a worker is woken for it. */
  async passOn(due: readonly DueRun[]): Promise<void> {
    const queued = due.filter((run): run is QueuedRun => run.queue !== undefined);
    const waiting = due.filter(({ queue }) => queue === undefined);
    if (waiting.length > 0) this.wake(...waiting.map(({ provider }) => provider));
    if (queued.length > 0) await this.enqueue(queued);
  }
}
