import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Log } from '#observability';
import type { FastifyInstance } from 'fastify';
import { isRouterPath } from './error-answer.js';

/**
 * Checks the headers of every answer before Node writes them, so it must be the last hook. A single value
 * that cannot be sent would make Node reject the whole answer, so such a value is dropped.
 */
export function checkAnswerHeaders(server: FastifyInstance, log: Log): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-service-request-id', request.id);
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (isSendable(name, value)) continue;
      reply.removeHeader(name);
      log.error({ request_id: request.id, header: name }, 'dropped a header that cannot be sent');
    }
    const lacksBucket = reply.statusCode >= 400 && !reply.hasHeader('x-service-error-type');
    if (lacksBucket && (isRouterPath(request.originalUrl) || request.routeOptions.config?.errorForm))
      reply.header('x-service-error-type', 'internal_error');
    done(null, payload);
  });
}

/** Nearly every header. The check of the rest takes ten times as long. */
const plainName = /^[a-z0-9-]+$/;
const plainValue = /^[\t\x20-\x7e]*$/;

function isSendable(name: string, value: number | string | string[] | undefined): boolean {
  if (typeof value === 'string' && plainName.test(name) && plainValue.test(value)) return true;
  try {
    validateHeaderName(name);
    for (const each of [value].flat()) validateHeaderValue(name, String(each));
    return value !== undefined;
  } catch {
    return false;
  }
}
