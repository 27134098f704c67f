import { ClockSkew } from '#persistence';
import { RunQueues } from '#queue';
import { BullRegistrar } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import os from 'node:os';
import { SETTINGS } from './settings.module.js';
import type { WorkerSettings } from './settings.js';

/** Jobs are taken when everything else stands, and while the clock is right. */
@Injectable()
export class WorkerStart {
  constructor(
    private readonly registrar: BullRegistrar,
    private readonly queues: RunQueues,
    private readonly clock: ClockSkew,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {}

  /** What is worth a line in the log about it. */
  takeJobs(): { message: string } {
    this.registrar.register();
    const follow = () => this.queues.takeJobs(this.clock.problem === undefined);
    this.clock.onChange = follow;
    if (this.clock.problem !== undefined) follow();
    const { WORKER_DISPATCH_CONCURRENCY, WORKER_POLL_CONCURRENCY, WORKER_ASSET_CONCURRENCY } = this.settings;
    return Object.assign(
      { message: 'worker started' },
      {
        worker: `${os.hostname()}-${process.pid}`,
        transport: this.queues.kind,
        slots_per_provider: {
          dispatch: WORKER_DISPATCH_CONCURRENCY,
          poll: WORKER_POLL_CONCURRENCY,
          assets: WORKER_ASSET_CONCURRENCY,
        },
      },
    );
  }
}
