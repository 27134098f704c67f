import { nestLogger } from '#observability';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ErrorFilter } from './answers/error.filter.js';
import { GatewayModule } from './gateway.module.js';
import { Readiness } from './health/readiness.js';
import { recordCalls } from './http/call-records.js';
import { closeSilentConnections } from './http/silent-connections.js';
import { takeOverFromNode } from './http/take-over-from-node.js';
import { fastifyOptions } from './http/fastify-options.js';
import { allowOtherOrigins } from './nodes/other-origins.js';
import type { Resources } from './resources.js';

/** The HTTP application over open resources, ready to listen. Closing it leaves the resources open. */
export async function createGateway(resources: Resources): Promise<NestFastifyApplication> {
  const errors = new ErrorFilter(resources.log);
  const adapter = new FastifyAdapter({
    ...fastifyOptions(resources.settings),
    // No middleware is used: without this, each call passes through an engine for it.
    skipMiddie: true,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      errors.answer(error, request, reply),
  });
  const server: FastifyInstance = adapter.getInstance();
  recordCalls(server, resources.log, resources.metrics, resources.tracing);
  closeSilentConnections(server);
  takeOverFromNode(server);
  allowOtherOrigins(server);
  leaveBodiesUnread(server);
  const app = await NestFactory.create<NestFastifyApplication>(GatewayModule.over(resources), adapter, {
    logger: nestLogger(resources.log),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(errors);
  lettingGo(server, app.get(Readiness));
  await app.init();
  await server.ready();
  return app;
}

/** Handlers read the bodies they want, after the caller is identified; whatever else arrives is discarded. */
function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** While the gateway stops, each answer is the last on its connection: an idle one would hold up the stop. */
function lettingGo(server: FastifyInstance, readiness: Readiness): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (readiness.stopping) void reply.header('connection', 'close');
    done(null, payload);
  });
}
