// Run by Node itself, on the built libraries: a process that can be killed.
import 'reflect-metadata';
import { LOG, Metrics } from '#observability';
import { QueueModule, queueSettings, RunProcessor } from '#queue';
import { readSettings } from '#schemas';
import { BullRegistrar, Processor } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const say = (line) => process.stdout.write(`${line}\n`);

class Beginner extends RunProcessor {
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

const { DATABASE_URL } = process.env;
const settings = { ...readSettings(queueSettings, process.env), DATABASE_URL, SIGNING_SECRET: [] };
class App {}
Module({
  imports: [QueueModule.forRootAsync({ imports: [LogModule], useFactory: () => settings })],
  providers: [Beginner],
})(App);

const app = await NestFactory.createApplicationContext(App, { logger: false });
app.get(BullRegistrar).register();
say('consuming');
