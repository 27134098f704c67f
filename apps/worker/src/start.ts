import 'reflect-metadata';
import { LiveCatalog } from '#catalog';
import { provideSettings } from '#infrastructure';
import { boot } from '#observability';
import { readSettings } from '#schemas';
import { NestFactory } from '@nestjs/core';
import { workerSettings } from './settings.js';
import { WorkerModule } from './worker.module.js';
import { SpilledOutcomes } from './runs/spilled-outcomes.js';
import { WorkerStart } from './worker-start.js';

/** Time for stopping, in addition to the wait for calls in flight. */
const closeMarginMs = 15_000;

await boot({
  settings: () => provideSettings('worker', readSettings(workerSettings, process.env)),
  create: (options) => NestFactory.createApplicationContext(WorkerModule, options),
  start: async (app) => {
    await app.get(SpilledOutcomes).restore();
    return app.get(WorkerStart).takeJobs();
  },
  closeMs: ({ WORKER_CLOSE_MS }) => WORKER_CLOSE_MS + closeMarginMs,
  reload: (app) => app.get(LiveCatalog).renew(),
});
