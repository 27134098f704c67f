import { InternalServer } from '#observability';
import { ClockSkew, Database } from '#persistence';
import { boardPath, createBoard, RunQueues } from '#queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { SETTINGS } from './settings.module.js';
import type { WorkerSettings } from './settings.js';

/** The worker's probes and the board of its queues, on the internal listener. */
@Injectable()
export class InternalPages implements OnModuleInit {
  constructor(
    private readonly internal: InternalServer,
    private readonly database: Database,
    private readonly clock: ClockSkew,
    private readonly queues: RunQueues,
    @Inject(SETTINGS) private readonly settings: WorkerSettings,
  ) {}

  async onModuleInit(): Promise<void> {
    this.internal.setProbes({
      ready: async () =>
        this.clock.problem ?? ((await this.database.healthy()) && (await this.queues.healthy())),
      // A wrong clock is mended on the host, not by a restart.
      live: () => this.clock.problem !== undefined || !this.queues.isStuck,
    });
    const board = await createBoard(this.queues, this.settings);
    if (board) this.internal.mount(boardPath, board);
  }
}
