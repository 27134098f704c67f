import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { LiveCatalog } from '#catalog';
import { provideSettings } from '#infrastructure';
import { boot } from '#observability';
import { readSettings } from '#schemas';
import { NestFactory } from '@nestjs/core';
import { workerSettings } from './settings.js';
import { WorkerModule } from './worker.module.js';
import { WorkerStart } from './worker-start.js';

/** Time for stopping, in addition to the wait for calls in flight. */
const closeMarginMs = 15_000;

// V8 collects garbage once the heap has grown to a multiple of its live objects, up to four times. A worker's
// live objects are those of its calls in flight, so the default would double its memory without saving CPU.
setFlagsFromString('--heap-growing-percent=40');

await boot({
  settings: () => provideSettings('worker', readSettings(workerSettings, process.env)),
  create: (options) => NestFactory.createApplicationContext(WorkerModule, options),
  start: async (app) => app.get(WorkerStart).takeJobs(),
  closeMs: ({ WORKER_CLOSE_MS }) => WORKER_CLOSE_MS + closeMarginMs,
  reload: (app) => app.get(LiveCatalog).renew(),
});
