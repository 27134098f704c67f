// Run directly by Node, on the built apps, so that the test can kill it.
import 'reflect-metadata';
import { LOG, Metrics } from '#observability';
import { Database, databaseSettings, DueRowRepository } from '#persistence';
import { QueueModule, queueSettings, RunProcessor, RunQueues } from '#queue';
import { readSettings } from '#schemas';
import { Processor } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const say = (line) => process.stdout.write(`${line}\n`);

class Beginner extends RunProcessor {
  queue = 'webhooks';
  closeGraceMs = 0;

  handle({ runId }) {
    say(`begun ${runId}`);
    return new Promise(() => {});
  }
}
Processor('webhooks')(Beginner);

class LogModule {}
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const services = [Metrics, { provide: LOG, useValue: silent }];
Module({ providers: services, exports: services })(LogModule);

const { DATABASE_URL, REDIS_URL } = process.env;
const settings = { ...readSettings(queueSettings, process.env), DATABASE_URL, SIGNING_SECRET: [] };
class App {}
Module({
  imports: [LogModule, QueueModule.forRootAsync({ imports: [LogModule], useFactory: () => settings })],
  providers: [Beginner],
})(App);

const app = await NestFactory.createApplicationContext(App, { logger: false });
const queues = app.get(RunQueues);
queues.takeJobs(true);
if (REDIS_URL === undefined) {
  const { DueRuns } = await import('../../dist/apps/worker/src/due-runs.js');
  const rows = new DueRowRepository(Database.create(readSettings(databaseSettings, { DATABASE_URL })));
  const all = [app.get(Beginner), app.get(Beginner), app.get(Beginner)];
  const { QUEUE_LOCK_MS } = settings;
  new DueRuns(rows, queues, ...all, app.get(Metrics), { QUEUE_LOCK_MS, WORKER_CLOSE_MS: 0 }, silent).takeRuns(
    true,
  );
}
say('consuming');
