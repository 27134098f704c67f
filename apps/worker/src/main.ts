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
  servers: () => {
    const { DATABASE_URL, REDIS_URL, S3_BUCKET, S3_ENDPOINT } = processSettings();
    return { DATABASE_URL, REDIS_URL, S3_ENDPOINT: S3_BUCKET && S3_ENDPOINT };
  },
  create: (options) => NestFactory.createApplicationContext(WorkerModule, options),
  start: async (app) => app.get(WorkerStart).takeJobs(),
  closeMs: () => processSettings().WORKER_CLOSE_MS + closeMarginMs,
  reload: (app) => app.get(LiveCatalog).renew(),
});
