import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AssetsProcessor } from './assets/assets.processor.js';
import { Dispatcher } from './runs/dispatcher.js';
import { DueRuns } from './due-runs.js';
import { PollProcessor } from './runs/poll.processor.js';
import { StreamedRuns } from './runs/streamed-runs.js';
import { WebhooksProcessor } from './webhooks/webhooks.processor.js';

/**
 * Stops dispatch and all queues at the same time. Left to itself, Nest would stop them one after the other:
 * the worker would take polls and copies until the last submission finished, and the waiting times would add
 * up.
 */
@Injectable()
export class WorkerStop implements OnModuleDestroy {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly streamed: StreamedRuns,
    private readonly dueRuns: DueRuns,
    private readonly poll: PollProcessor,
    private readonly assets: AssetsProcessor,
    private readonly webhooks: WebhooksProcessor,
  ) {}

  async onModuleDestroy(): Promise<void> {
    const { dispatcher, streamed, dueRuns, poll, assets, webhooks } = this;
    streamed.onModuleDestroy();
    await Promise.all([dispatcher, dueRuns, poll, assets, webhooks].map((each) => each.onModuleDestroy()));
  }
}
