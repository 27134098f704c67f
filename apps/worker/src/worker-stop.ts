import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AssetsProcessor } from './assets/assets.processor.js';
import { DispatchProcessor } from './runs/dispatch.processor.js';
import { PollProcessor } from './runs/poll.processor.js';
import { WebhooksProcessor } from './webhooks/webhooks.processor.js';

/**
 * Closes all queues at once. Nest calls what depends on most first and waits for it: left to that, polls and copies would
 * be taken for as long as the last submission is in the air, and the times of the four would add up.
 */
@Injectable()
export class WorkerStop implements OnModuleDestroy {
  constructor(
    private readonly dispatch: DispatchProcessor,
    private readonly poll: PollProcessor,
    private readonly assets: AssetsProcessor,
    private readonly webhooks: WebhooksProcessor,
  ) {}

  async onModuleDestroy(): Promise<void> {
    const { dispatch, poll, assets, webhooks } = this;
    await Promise.all([dispatch, poll, assets, webhooks].map((each) => each.onModuleDestroy()));
  }
}
