import { SETTINGS } from '#infrastructure';
import { failpoint, jittered, noteCall } from '#observability';
import { type DueWebhook, isTest, WebhookRepository } from '#persistence';
import { type DeliveredRun, done, type JobResult, retryIn } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { WorkerSettings } from '../settings.js';
import { WebhookCalls } from './webhook-calls.js';
import { SlottedProcessor } from '../slotted.processor.js';

/** Maximum number of one worker's concurrent calls to one receiver of a workspace, and to all of them. */
const maxOfReceiver = 10;
const maxOfWorkspace = 50;

/**
 * Delivers webhooks. Between two attempts, and while its receiver has no free slot, a webhook waits in its
 * row without a job, so that receivers that hang or fail for a day cost nothing and delay only themselves.
 */
@Processor('webhooks')
export class WebhooksProcessor extends SlottedProcessor {
  readonly queue = 'webhooks';
  /** Receivers for which a webhook began to wait while a call to them was in flight. */
  private readonly joined = new Set<string>();

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly calls: WebhookCalls,
    @Inject(SETTINGS) settings: WorkerSettings,
  ) {
    super(settings, { max: maxOfWorkspace, maxOfHolder: maxOfReceiver });
  }

  protected async handle({ runId }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const webhook = await this.webhooks.begin(runId);
    if (webhook) await this.serve(webhook, signal);
    return signal.aborted ? retryIn(0) : done;
  }

  private async serve(webhook: DueWebhook, signal: AbortSignal): Promise<void> {
    const { runId, workspaceId, receiver } = webhook;
    const slot = this.slots.acquire(workspaceId, receiver);
    if (slot) await this.try(webhook, signal).finally(() => slot[Symbol.dispose]());
    else {
      const isCalled = this.slots.heldOf(workspaceId).has(receiver);
      await this.webhooks.waitForSlot(runId, isCalled);
      if (isCalled) this.joined.add(lineOf(webhook));
    }
    await this.serveLine(webhook, signal);
  }

  /**
   * Delivers the webhooks that wait for the receiver, which have no job, under one slot. It reads the line
   * again if a webhook began to wait between the last read and the release of the slot.
   */
  private async serveLine(to: Receiver, signal: AbortSignal): Promise<void> {
    const isOpen = () => !signal.aborted && this.isTaking;
    do {
      using slot = this.slots.acquire(to.workspaceId, to.receiver);
      if (slot === null) return;
      this.joined.delete(lineOf(to));
      for (
        let next;
        isOpen() && (next = await this.webhooks.takeWaitingWebhook(to.workspaceId, to.receiver));
      )
        await this.try(next, signal);
    } while (isOpen() && this.joined.has(lineOf(to)));
  }

  private async try(webhook: DueWebhook, signal: AbortSignal): Promise<void> {
    const { runId, callId, tries, event } = webhook;
    noteCall(runId, callId ?? undefined);
    const call = await this.calls.callReceiver(webhook, signal);
    if (signal.aborted) return;
    await failpoint('webhook.afterCall', runId);
    if (call.problem === undefined) return this.webhooks.delivered(webhook, call);
    const afterMs = isTest(event) ? null : nextTryMs(tries + 1);
    // The person who sent a test event looks at its answer.
    if ((await this.webhooks.failed(webhook, call, afterMs)) && !isTest(event))
      this.note(webhook, call.problem, afterMs);
  }

  private note({ runId, workspaceId, tries }: DueWebhook, problem: string, afterMs: number | null): void {
    const facts = { run_id: runId, workspace_id: workspaceId, tries: tries + 1, problem };
    if (afterMs === null) {
      this.metrics.webhooksGivenUp.inc();
      this.log.warn(facts, 'gave up on a webhook after its last attempt');
    } else this.log.info({ ...facts, after_ms: afterMs }, 'a webhook failed, retrying');
  }
}

type Receiver = Pick<DueWebhook, 'workspaceId' | 'receiver'>;

const lineOf = ({ workspaceId, receiver }: Receiver): string => `${workspaceId} ${receiver}`;

const minute = 60_000;
const hour = 60 * minute;

/** Pauses after each failed attempt. Together they last 23 hours and 37 minutes. */
const pausesMs = [10_000, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 15 * hour];

/** Milliseconds until the next attempt after `failed` failures, or null if there is none. */
export function nextTryMs(failed: number): number | null {
  const pauseMs = pausesMs[failed - 1];
  return pauseMs === undefined ? null : jittered(pauseMs, 0.1);
}
