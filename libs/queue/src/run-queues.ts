import type { Queue } from 'bullmq';
import type { RunSignals } from './run-signals.js';
import type { WakeUpListener } from './wake-ups.js';

/** The kinds of work that all providers share. */
export const queueNames = ['poll', 'assets', 'webhooks'] as const;
export type QueueName = (typeof queueNames)[number];

/** A run and its queue. A job holds nothing else: the rest is read from the run's row. */
export interface QueuedRun {
  queue: QueueName;
  provider: string;
  runId: string;
  /** Left out for a run that is due at once. */
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
 * Tells workers which runs are due, and whoever waits for a run that it has changed. The rows are the truth: everything
 * here may vanish at any moment. With Redis, BullMQ jobs carry polls, copies and webhooks; without it workers take their
 * rows, and only wake-ups and signals travel. No method throws because the server is away, and none waits for it much longer
 * than the command timeout.
 */
export abstract class RunQueues {
  abstract readonly kind: 'redis' | 'postgres';
  abstract readonly signals: RunSignals;
  /** BullMQ's queues, for the board alone; none without Redis. */
  abstract readonly all: readonly Queue[];
  /** Whether work waits and this process takes none, by the counts that were read: then only a restart helps. */
  abstract readonly isStuck: boolean;
  /** Whether this process takes jobs, or rows. */
  isTaking = false;

  /** Tells a worker that runs wait in their rows for the providers. */
  abstract wake(...providers: string[]): void;
  /** Calls `heard` with each provider that runs were said to wait for, until the listener is closed. */
  abstract onWakeUp(heard: (provider: string) => void): WakeUpListener;
  /**
   * Calls `heard` when a row of a queue is said to be due in so many milliseconds, until the listener is closed. Null where
   * jobs carry the runs.
   */
  abstract onDueRow(heard: (afterMs: number) => void): WakeUpListener | null;
  /** True for each run that was accepted; false ones are left to the reconciler. A run that is queued already stays as it is. */
  abstract enqueue(runs: readonly QueuedRun[]): Promise<boolean[]>;
  /** Brings a delayed job forward to now, or has the row looked for that was; does nothing when there is none. */
  abstract runNow(queue: QueueName, runId: string): Promise<void>;
  /** Where the run's job is: `missing`, `delayed`, or about to be handled; null when the server does not say. */
  abstract stateOf(queue: QueueName, runId: string): Promise<'missing' | 'delayed' | 'queued' | null>;
  /** Jobs by state; empty without jobs, and while the server is away. */
  abstract counts(): Promise<QueueCounts[]>;
  /** Whether the server is there and takes what is told. */
  abstract healthy(): Promise<boolean>;
  abstract close(): Promise<void>;

  /** Whether this process takes jobs from now on; those under way go on. */
  takeJobs(isTaking: boolean): void {
    this.isTaking = isTaking;
  }

  /** Passes on what a change made due: a run without a queue waits in its row, so a worker is woken. */
  async passOn(due: readonly DueRun[]): Promise<void> {
    const queued = due.filter((run): run is QueuedRun => run.queue !== undefined);
    const waiting = due.filter(({ queue }) => queue === undefined);
    if (waiting.length > 0) this.wake(...waiting.map(({ provider }) => provider));
    if (queued.length > 0) await this.enqueue(queued);
  }
}
