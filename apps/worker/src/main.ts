import 'reflect-metadata';
import { LiveCatalog } from '#catalog';
import { boot } from '#observability';
import { NestFactory } from '@nestjs/core';
import { processSettings } from './settings.module.js';
import { WorkerModule } from './worker.module.js';
import { WorkerStart } from './worker-start.js';

/** What a stop takes beside the calls in the air. */
const closeMarginMs = 15_000;

await boot({
  create: (options) => NestFactory.createApplicationContext(WorkerModule, options),
  start: async (app) => app.get(WorkerStart).takeJobs(),
  closeMs: () => processSettings().WORKER_CLOSE_MS + closeMarginMs,
  reload: (app) => app.get(LiveCatalog).renew(),
});
