import { Metrics } from '#observability';
import {
  type ProviderPause,
  ProviderPauseRepository,
  StoredObjectRepository,
  type UnneededObjects,
  WebhookRepository,
} from '#persistence';
import { Injectable } from '@nestjs/common';

/** Gauges of what records say: pauses, objects in the store that no run needs, and webhooks. */
@Injectable()
export class RecordGauges {
  constructor(
    private readonly pauses: ProviderPauseRepository,
    private readonly objects: StoredObjectRepository,
    private readonly webhooks: WebhookRepository,
    private readonly metrics: Metrics,
  ) {}

  async round(): Promise<void> {
    this.setPauses(await this.pauses.standing());
    this.setObjects(await this.objects.unneeded());
    this.metrics.oldestDueWebhookSeconds.set(await this.webhooks.oldestDueSeconds());
  }

  private setPauses(standing: readonly ProviderPause[]): void {
    this.metrics.pausedProviders.reset();
    for (const { provider, calls, askedBy } of standing)
      this.metrics.pausedProviders.set({ provider, calls, asked_by: askedBy }, 1);
  }

  private setObjects({ inDoubt, leftBehind }: UnneededObjects): void {
    this.metrics.storedObjects.set({ state: 'in_doubt' }, inDoubt);
    this.metrics.storedObjects.set({ state: 'left_behind' }, leftBehind);
  }
}
