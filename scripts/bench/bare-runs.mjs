// The floor of what gateways do: Fastify alone, which makes the same call of the database and the same delivery, reads
// the same row, or serves the same bytes. Its settings are JSON in BARE. Prints its address.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import Fastify from 'fastify';
import { v7 } from 'uuid';
import { AdmissionRepository, Database, RunReader } from '../../dist/libs/persistence/src/index.js';
import { LOG, Metrics } from '../../dist/libs/observability/src/index.js';
import { QueueModule, queueSettings, RunQueues } from '../../dist/libs/queue/src/index.js';
import { readSettings } from '../../dist/libs/schemas/src/index.js';

const { env, workspaceId, run, bytes } = JSON.parse(process.env.BARE ?? '{}');
const database = Database.create({
  DATABASE_URL: env.DATABASE_URL,
  DATABASE_POOL: 8,
  DATABASE_READ_POOL: 3,
  DATABASE_REGISTRY_POOL: 1,
  DATABASE_ACQUIRE_MS: 5000,
  DATABASE_STATEMENT_MS: 10_000,
});
const admissions = new AdmissionRepository(database);
const answers = new RunReader(database, {
  RESULT_RETENTION_SECONDS: 86_400,
  TOMBSTONE_RETENTION_SECONDS: 86_400,
});
const silent = { info() {}, warn() {}, error() {} };
class Quiet {}
Module({ providers: [{ provide: LOG, useValue: silent }, Metrics], exports: [LOG, Metrics] })(Quiet);
class Bare {}
const settings = readSettings(queueSettings, env);
Module({ imports: [QueueModule.forRootAsync({ imports: [Quiet], useFactory: () => settings })] })(Bare);
const app = await NestFactory.createApplicationContext(Bare, { logger: false });
const queues = app.get(RunQueues, { strict: false });
const facts = { upstream: {}, assets: [], chargesOnPolicyRejection: 'unknown', budgetMs: 300_000 };
const call = { requestId: v7(), route: 'bench', origin: 'http://bench' };

const server = Fastify();
server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
server.post('/submit', async (request, reply) => {
  const runId = v7();
  const admitted = await admissions.admit({
    runId,
    workspaceId,
    model: 'bench/none',
    provider: 'bench',
    mode: 'queued',
    facts,
    reservedMicros: 1000,
    computedMicros: 1000,
    credential: 'bench',
    call,
    body: request.body,
  });
  await queues.enqueueGranted([{ runId, provider: 'bench' }]);
  return reply.code(201).send(admitted);
});
server.get('/status', async () => answers.state(workspaceId, run?.model, run?.id));
const body = Buffer.from(bytes ?? '');
server.get('/bytes', (_request, reply) => reply.type('application/json').send(body));
server.get('/unchanged', (_request, reply) => reply.code(304).send());
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);
