import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorFilter } from './answers/error.filter.js';
import { GatewayModule } from './gateway.module.js';
import { fastifyOptions } from './http/fastify-options.js';
import type { GatewaySettings } from './settings.js';

/** Creates the HTTP application, initialised but not yet listening. */
export async function createGateway(
  options: NestApplicationOptions,
  settings: GatewaySettings,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    ...fastifyOptions(settings),
    // The gateway has no middleware. Without this option each call passes through the middleware engine.
    skipMiddie: true,
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      app.get(ErrorFilter).answer(error, request, reply),
  });
  const app = await NestFactory.create<NestFastifyApplication>(GatewayModule, adapter, {
    ...options,
    bodyParser: false,
  });
  await app.init();
  return app;
}
