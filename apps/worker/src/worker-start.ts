import { SETTINGS, StoreIdentity } from '#infrastructure';
import { InternalServer } from '#observability';
import { ClockSkew, Database } from '#persistence';
import { RunQueues } from '#queue';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import os from 'node:os';
import { boardPath, createBoard } from './board.js';
import { Dispatcher } from './runs/dispatcher.js';
import { DueRuns } from './due-runs.js';
import { HeldOutcomes } from './runs/held-outcomes.js';
import type { WorkerSettings } from './settings.js';

/**
 * Mounts the worker's probes and the board of its queues on the internal listener. Takes jobs once everything
 * else has started, and only while the clock and the store are right and there is room for outcomes.
 */
@Injectable()
export class WorkerStart implements OnModuleInit, OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly internal: InternalServer,
    private readonly database: Database,
    private readonly queues: RunQueues,
    private readonly dispatcher: Dispatcher,
    private readonly dueRuns: DueRuns,
    private readonly clock: ClockSkew,
    private readonly store: StoreIdentity,
    private readonly held: HeldOutcomes,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {}

  async onModuleInit(): Promise<void> {
    this.internal.setProbes({
      ready: () => this.ready(),
      // A wrong clock or store must be fixed on the host, which a restart cannot do.
      live: () => this.problem !== undefined || !this.queues.isStuck,
    });
    const board = await createBoard(this.queues, this.settings);
    if (board) this.internal.mount(boardPath, board);
  }

  /** A stopping worker finishes its calls, but takes no work. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** Starts taking jobs and returns the log line about the start. */
  takeJobs() {
    const follow = () => {
      const isRight = this.problem === undefined && !this.held.isFull;
      this.queues.takeJobs(isRight);
      this.dispatcher.takeRuns(isRight);
      this.dueRuns.takeRuns(isRight);
    };
    this.clock.onChange = follow;
    this.store.onChange = follow;
    this.held.onChange = follow;
    follow();
    const { WORKER_DISPATCH_CONCURRENCY, WORKER_POLL_CONCURRENCY, WORKER_ASSET_CONCURRENCY } = this.settings;
    return {
      message: 'worker started',
      worker: `${os.hostname()}-${process.pid}`,
      transport: this.queues.kind,
      slots_per_provider: {
        dispatch: WORKER_DISPATCH_CONCURRENCY,
        poll: WORKER_POLL_CONCURRENCY,
        assets: WORKER_ASSET_CONCURRENCY,
      },
    };
  }

  private get problem(): string | undefined {
    return this.clock.problem ?? this.store.problem;
  }

  private async ready(): Promise<boolean | string> {
    if (this.isStopping) return false;
    return this.problem ?? ((await this.database.healthy()) && (await this.queues.healthy()));
  }
}
