import { failpoint } from '#observability';
import { type DueWebhook, WebhookRepository } from '#persistence';
import { type DeliveredRun, type JobResult, RunProcessor, RunQueues } from '#queue';
import { Processor } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import { repeatableGraceMs, SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import { ReceiverSlots } from './receiver-slots.js';
import { nextTryMs } from './tries.js';
import { WebhookCalls } from './webhook-calls.js';

const done: JobResult = { kind: 'done' };

/**
 * Makes one try of a webhook. Between two tries, and while its receiver has no free slot, it waits in its row without a
 * job: receivers that hang or fail for a day cost nothing, and hold up none but themselves.
 */
@Processor('webhooks')
export class WebhooksProcessor extends RunProcessor {
  protected readonly closeGraceMs: number;
  private readonly slots = new ReceiverSlots();

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly calls: WebhookCalls,
    private readonly queues: RunQueues,
    @Inject(SETTINGS) settings: WorkerSettings,
  ) {
    super();
    this.closeGraceMs = repeatableGraceMs(settings);
  }

  protected async handle({ runId }: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    const webhook = await this.webhooks.begin(runId);
    if (webhook === null) return done;
    if (!this.slots.acquire(webhook)) {
      await this.webhooks.wait(runId);
      // A slot may have become free before the row said that it waits.
      if (this.slots.isFree(webhook)) await this.takeNext(webhook);
      return done;
    }
    try {
      return await this.try(webhook, signal);
    } finally {
      this.slots.release(webhook);
      await this.takeNext(webhook);
    }
  }

  private async try(webhook: DueWebhook, signal: AbortSignal): Promise<JobResult> {
    const { runId, tries } = webhook;
    const problem = await this.calls.call(webhook, signal);
    if (signal.aborted) return { kind: 'retry', delayMs: 0 };
    await failpoint('webhook.afterCall', runId);
    if (problem === null) {
      await this.webhooks.delivered(runId);
      return done;
    }
    const afterMs = nextTryMs(tries + 1);
    if (await this.webhooks.failed(runId, tries, problem, afterMs)) this.note(webhook, problem, afterMs);
    return done;
  }

  private note({ runId, workspaceId, tries }: DueWebhook, problem: string, afterMs: number | null): void {
    const facts = { run_id: runId, workspace_id: workspaceId, tries: tries + 1, problem };
    if (afterMs === null) {
      this.worker.host.metrics.webhooksGivenUp.inc();
      this.log.warn(facts, 'a webhook was given up');
    } else this.log.info({ ...facts, after_ms: afterMs }, 'a webhook was not taken, trying again');
  }

  private async takeNext({ workspaceId, receiver, model }: DueWebhook): Promise<void> {
    const runId = await this.webhooks.takeWaiting(workspaceId, receiver);
    const [provider = ''] = model.split('/');
    if (runId !== null) await this.queues.enqueue([{ queue: 'webhooks', provider, runId, delayMs: 0 }]);
  }
}
