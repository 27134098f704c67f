import type { Generation } from '#catalog';
import type { FastifyRequest } from 'fastify';

/** The generation of router routes that the call came by. */
export const generationOf = (request: Pick<FastifyRequest, 'routeOptions'>): Generation =>
  request.routeOptions.url?.startsWith('/v1/') ? 'v1' : 'v2';
