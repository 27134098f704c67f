import { SETTINGS } from '#infrastructure';
import { failpoint, jittered } from '#observability';
import { type DueWebhook, WebhookRepository } from '#persistence';
import { type DeliveredRun, done, type JobResult, retryIn, RunProcessor } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import { repeatableGraceMs, type WorkerSettings } from '../settings.js';
import { WebhookCalls } from './webhook-calls.js';

/** Calls at once to one receiver of a workspace, and to all of them, by one worker. */
const maxOfReceiver = 10;
const maxOfWorkspace = 50;

/**
 * Makes tries of webhooks. Between two tries of one, and while its receiver has no free slot, it waits in its row without a
 * job: receivers that hang or fail for a day cost nothing, and hold up none but themselves.
 */
@Processor('webhooks')
export class WebhooksProcessor extends RunProcessor {
  protected readonly closeGraceMs: number;
  private readonly slots = new ReceiverSlots();

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly calls: WebhookCalls,
    @Inject(SETTINGS) settings: WorkerSettings,
  ) {
    super();
    this.closeGraceMs = repeatableGraceMs(settings);
  }

  protected async handle({ runId }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const webhook = await this.webhooks.begin(runId);
    if (webhook) await this.serve(webhook, signal);
    return signal.aborted ? retryIn(0) : done;
  }

  /**
   * Goes on with those that wait for the receiver, which have no job: a job of their own could not be made while the one
   * that put them into the line is still about to end.
   */
  private async serve(first: DueWebhook, signal: AbortSignal): Promise<void> {
    let next: DueWebhook | null = first;
    while (next && !signal.aborted && this.isTaking) {
      if (this.slots.acquire(next)) await this.try(next, signal).finally(() => this.slots.release(first));
      else {
        await this.webhooks.waitForSlot(next.runId, this.slots.isServed(next));
        // The holder of a slot reads the line after giving it back, perhaps before this row was in it.
        if (!this.slots.isFree(next)) return;
      }
      next = await this.webhooks.takeWaitingWebhook(first.workspaceId, first.receiver);
    }
  }

  private async try(webhook: DueWebhook, signal: AbortSignal): Promise<void> {
    const { runId, tries } = webhook;
    const problem = await this.calls.callReceiver(webhook, signal);
    if (signal.aborted) return;
    await failpoint('webhook.afterCall', runId);
    if (problem === null) return this.webhooks.delivered(webhook);
    const afterMs = nextTryMs(tries + 1);
    if (await this.webhooks.failed(webhook, problem, afterMs)) this.note(webhook, problem, afterMs);
  }

  private note({ runId, workspaceId, tries }: DueWebhook, problem: string, afterMs: number | null): void {
    const facts = { run_id: runId, workspace_id: workspaceId, tries: tries + 1, problem };
    if (afterMs === null) {
      this.worker.host.metrics.webhooksGivenUp.inc();
      this.log.warn(facts, 'a webhook was given up');
    } else this.log.info({ ...facts, after_ms: afterMs }, 'a webhook was not taken, trying again');
  }
}

type Receiver = Pick<DueWebhook, 'workspaceId' | 'receiver'>;

/** Concurrency slots for webhooks: a receiver that hangs takes its own, and a workspace of many such takes only its own. */
export class ReceiverSlots {
  private readonly held = new Map<string, number>();

  isFree(to: Receiver): boolean {
    return this.count(keyOf(to)) < maxOfReceiver && this.count(to.workspaceId) < maxOfWorkspace;
  }

  /** Whether a call to this very receiver is under way. */
  isServed(to: Receiver): boolean {
    return this.count(keyOf(to)) > 0;
  }

  acquire(to: Receiver): boolean {
    if (!this.isFree(to)) return false;
    this.add(keyOf(to), 1);
    this.add(to.workspaceId, 1);
    return true;
  }

  release(to: Receiver): void {
    this.add(keyOf(to), -1);
    this.add(to.workspaceId, -1);
  }

  private count(key: string): number {
    return this.held.get(key) ?? 0;
  }

  /** Callers choose the receivers, so a count of 0 is forgotten. */
  private add(key: string, difference: 1 | -1): void {
    const count = this.count(key) + difference;
    if (count === 0) this.held.delete(key);
    else this.held.set(key, count);
  }
}

const keyOf = ({ workspaceId, receiver }: Receiver): string => `${workspaceId} ${receiver}`;

const minute = 60_000;
const hour = 60 * minute;

/** Pauses after the first try, the second, …; together they last 23 hours and 37 minutes. */
const pausesMs = [10_000, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 15 * hour];

/** When a webhook that failed so many times is tried again, in milliseconds; null when it is given up. */
export function nextTryMs(failed: number): number | null {
  const pauseMs = pausesMs[failed - 1];
  return pauseMs === undefined ? null : jittered(pauseMs, 0.1);
}
