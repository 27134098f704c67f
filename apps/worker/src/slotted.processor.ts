import { type DeliveredRun, type JobResult, RunProcessor } from '#queue';
import type { OnModuleInit } from '@nestjs/common';
import { repeatableGraceMs, type WorkerSettings } from './settings.js';
import { type Limits, Slots } from './slots.js';

/** Owns the slots of its work. Another worker can repeat that work, so closing waits for it only briefly. */
export abstract class SlottedProcessor extends RunProcessor {
  readonly closeGraceMs: number;
  protected readonly slots: Slots;

  constructor(settings: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>, limits: Omit<Limits, 'onTotal'>) {
    super();
    this.closeGraceMs = repeatableGraceMs(settings);
    this.slots = new Slots({ ...limits, onTotal: this.boundRuns });
  }
}

/** Handles each run under a slot of its provider, and reports these slots. */
export abstract class ProviderSlotsProcessor extends SlottedProcessor implements OnModuleInit {
  onModuleInit(): void {
    this.metrics.watchSlots(this.queue, (provider) => this.slots.usage(provider));
  }

  protected handle(run: DeliveredRun, signal: AbortSignal): Promise<JobResult> {
    return this.slots.during(run.provider, signal, () => this.work(run, signal));
  }

  protected abstract work(run: DeliveredRun, signal: AbortSignal): Promise<JobResult>;
}
