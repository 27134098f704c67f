import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { LiveCatalog } from '#catalog';
import { boot } from '#observability';
import { NestFactory } from '@nestjs/core';
import { processSettings } from './settings.module.js';
import { WorkerModule } from './worker.module.js';
import { WorkerStart } from './worker-start.js';

/** The time that a stop takes beside the calls in flight. */
const closeMarginMs = 15_000;

// V8 collects garbage once the heap has grown to a multiple of its live objects, up to four times. A worker's live objects
// are those of its present calls, so the default would double its memory for no less CPU.
setFlagsFromString('--heap-growing-percent=40');

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
