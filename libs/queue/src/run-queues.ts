import { settlesWithin } from '#observability';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { QueueBackend } from './queue-backend.js';
import type { WakeUpListener } from './wake-ups.js';

/** The kinds of work, each a BullMQ queue that all providers share: a job's name is its provider. */
export const queueNames = ['poll', 'assets', 'webhooks'] as const;
export type QueueName = (typeof queueNames)[number];

/** A run and its queue. A job holds nothing else: the rest is read from the run's row. */
export interface QueuedRun {
  queue: QueueName;
  provider: string;
  runId: string;
  /** Left out for a job that is due at once. */
  delayMs?: number;
}

/** A run that waits in its row to be dispatched has no queue. */
export interface DueRun extends Omit<QueuedRun, 'queue'> {
  queue?: QueueName;
}

export interface QueueCounts {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
}

const chunkSize = 500;

/**
 * The producers' side. Everything in the queues may vanish at any moment: the reconciler puts it back. No method
 * throws because the server is away, and none waits for it much longer than the command timeout.
 */
@Injectable()
export class RunQueues {
  private readonly byName: Record<QueueName, Queue>;

  constructor(
    private readonly backend: QueueBackend,
    @InjectQueue('poll') poll: Queue,
    @InjectQueue('assets') assets: Queue,
    @InjectQueue('webhooks') webhooks: Queue,
  ) {
    this.byName = { poll, assets, webhooks };
    for (const queue of this.all)
      queue.on('error', (error) => backend.outage.trouble(error, `queue ${queue.name}`));
  }

  get kind(): QueueBackend['kind'] {
    return this.backend.kind;
  }

  /** BullMQ's queues, for the board alone. */
  get all(): Queue[] {
    return Object.values(this.byName);
  }

  /** Tells a worker that runs wait in their rows for the providers. */
  wake(...providers: string[]): void {
    this.backend.wakeUps.wake(providers);
  }

  /** Calls `heard` with each provider that runs were said to wait for, until the listener is closed. */
  onWakeUp(heard: (provider: string) => void): WakeUpListener {
    return this.backend.listen(heard);
  }

  /** Passes on what a change made due: a run without a queue waits in its row, so a worker is woken. */
  async passOn(due: readonly DueRun[]): Promise<void> {
    const jobs = due.filter((run): run is QueuedRun => run.queue !== undefined);
    const waiting = due.filter(({ queue }) => queue === undefined);
    if (waiting.length > 0) this.wake(...waiting.map(({ provider }) => provider));
    if (jobs.length > 0) await this.enqueue(jobs);
  }

  /** True for each run that was accepted; false ones are left to the reconciler. A run that is queued already stays as it is. */
  async enqueue(runs: readonly QueuedRun[]): Promise<boolean[]> {
    const accepted = new Set<QueuedRun>();
    const untilMs = performance.now() + this.backend.settings.QUEUE_COMMAND_TIMEOUT_MS;
    for (let at = 0; at < runs.length && this.backend.isUp; at += chunkSize) {
      if (at > 0 && performance.now() > untilMs) break;
      const sizeBefore = accepted.size;
      await Promise.all(
        queueNames.map(async (name) => {
          const chunk = runs.slice(at, at + chunkSize).filter(({ queue }) => queue === name);
          if (chunk.length > 0 && (await this.add(name, chunk))) for (const run of chunk) accepted.add(run);
        }),
      );
      if (accepted.size === sizeBefore) break;
    }
    return runs.map((run) => accepted.has(run));
  }

  /** Brings a delayed job forward to now; does nothing when there is none. */
  async runNow(queue: QueueName, runId: string): Promise<void> {
    if (!this.backend.isUp) return;
    // It fails when the job is not delayed: then there is nothing to bring forward.
    await this.inTime(this.byName[queue].getBackend().changeDelay(runId, 0), null);
  }

  /** Where the run's job is: `missing`, `delayed`, or about to be handled; null when the server does not say. */
  async stateOf(queue: QueueName, runId: string): Promise<'missing' | 'delayed' | 'queued' | null> {
    if (!this.backend.isUp) return null;
    const state = await this.inTime(this.byName[queue].getJobState(runId), null);
    if (state === 'unknown') return 'missing';
    return state === 'delayed' || state === null ? state : 'queued';
  }

  /** Whether work waits and this process takes none, by the counts that were read: then only a restart helps. */
  get isStuck(): boolean {
    return this.backend.activity.isStuck;
  }

  /** Whether this process takes jobs from now on; those under way go on. */
  takeJobs(isTaking: boolean): void {
    for (const worker of this.backend.workers) void (isTaking ? worker.resume() : worker.pause(true));
  }

  /** Empty while the server is away. */
  async counts(): Promise<QueueCounts[]> {
    if (!this.backend.isUp) return [];
    const counting = Promise.all(
      queueNames.map(async (queue) => {
        const counts = await this.byName[queue].getJobCounts('waiting', 'active', 'delayed');
        const of = (state: string) => counts[state] ?? 0;
        return { queue, waiting: of('waiting'), active: of('active'), delayed: of('delayed') };
      }),
    );
    const counted = await this.inTime(counting, []);
    this.backend.activity.noteWaiting(counted.reduce((sum, { waiting }) => sum + waiting, 0));
    return counted;
  }

  /** Whether the server is there and takes jobs. */
  healthy(): Promise<boolean> {
    return this.backend.healthy();
  }

  /** The server's answer, or `otherwise` when it fails or takes longer than a command may. */
  private async inTime<Answer, Otherwise>(
    asked: Promise<Answer>,
    otherwise: Otherwise,
  ): Promise<Answer | Otherwise> {
    const answer = asked.catch(() => otherwise);
    return (await settlesWithin(answer, this.backend.settings.QUEUE_COMMAND_TIMEOUT_MS)) ? answer : otherwise;
  }

  private add(queue: QueueName, runs: readonly QueuedRun[]): Promise<boolean> {
    const jobs = runs.map(({ provider, runId, delayMs = 0 }) => ({
      name: provider,
      data: {},
      opts: { jobId: runId, delay: delayMs },
    }));
    return this.backend.succeeds(this.backend.add(this.byName[queue], jobs), 'runs were not enqueued');
  }
}
