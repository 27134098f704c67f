import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorFilter } from './answers/error.filter.js';
import { GatewayModule } from './gateway.module.js';
import { fastifyOptions } from './http/fastify-options.js';
import type { GatewaySettings } from './settings.js';

/** The HTTP application, initialised and not yet listening. */
export async function createGateway(
  options: NestApplicationOptions,
  settings: GatewaySettings,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    ...fastifyOptions(settings),
    // No middleware is used: without this, each call passes through an engine for it.
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
