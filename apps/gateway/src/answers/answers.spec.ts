import { describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import { createLog } from '#observability';
import { fastify, type FastifyInstance } from 'fastify';
import { checkAnswerHeaders } from './answer-headers.js';
import type { ErrorForm } from './error-answer.js';
import { ErrorFilter } from './error.filter.js';

const log = createLog('gateway', 'silent');

/** The answer of a server whose only handler is `handle`. `before` adds hooks ahead of the check. */
async function answerOf(
  url: string,
  handle: () => unknown,
  before: (server: FastifyInstance) => unknown = () => {},
) {
  const server = fastify({ genReqId: () => 'one-call' });
  const filter = new ErrorFilter(log, { note: () => {} });
  server.setErrorHandler((error, request, reply) => filter.answer(error, request, reply));
  before(server);
  checkAnswerHeaders(server, log);
  // Like Nest: errors of a handler go to the filter, later errors to the error handler.
  server.get('*', (request, reply) => {
    try {
      return reply.send(handle());
    } catch (error) {
      filter.answer(error, request, reply);
      return reply;
    }
  });
  const { statusCode, headers, body } = await server.inject(url);
  await server.close();
  return { status: statusCode, headers, body };
}

const fail = (error: Error) => () => {
  throw error;
};

const errorForm: ErrorForm = ({ status, publicDetail }, { requestId }) => ({
  status,
  headers: { 'x-own': 'yes' },
  body: { own: publicDetail, requestId },
});

describe('an answer', () => {
  it('is sent without a header that Node would reject', async () => {
    const answer = await answerOf(
      '/v2/x',
      () => ({ done: true }),
      (server) =>
        server.addHook('onSend', (_request, reply, payload, done) => {
          reply.header('x-text', '€').header('x-other', 'kept');
          done(null, payload);
        }),
    );
    expect(answer).toMatchObject({ status: 200, body: '{"done":true}' });
    expect(answer.headers).toMatchObject({ 'x-other': 'kept', 'x-service-request-id': 'one-call' });
    expect(answer.headers).not.toHaveProperty('x-text');
  });

  it('to a failed call keeps its shape even if a header is invalid', async () => {
    const headers = { 'X-Text': 'a\nb', 'Retry-After': '1' };
    const answer = await answerOf('/v2/x', fail(new RouterError('rate_limited', 'Slow down.', { headers })));
    expect(answer).toMatchObject({
      status: 429,
      headers: {
        'x-service-error-type': 'rate_limited',
        'x-service-request-id': 'one-call',
        'retry-after': '1',
      },
    });
    expect(JSON.parse(answer.body)).toEqual({ detail: 'Slow down.', error_type: 'rate_limited' });
  });

  it('that cannot be serialised becomes an internal error', async () => {
    const answer = await answerOf('/v2/x', () => ({ big: 1n }));
    expect(answer).toMatchObject({ status: 500, headers: { 'x-service-error-type': 'internal_error' } });
    expect(JSON.parse(answer.body)).toMatchObject({ error_type: 'internal_error' });
  });

  it('outside /v1 and /v2 has the shape of the registry, and no bucket', async () => {
    const answer = await answerOf('/nodes', fail(new Error('secret')));
    expect(answer.headers).not.toHaveProperty('x-service-error-type');
    expect(JSON.parse(answer.body)).toEqual({
      error: 'internal_error',
      message: 'The service failed; the error has been logged.',
    });
  });

  it('on a route with a format of its own has that body, our status and our headers', async () => {
    const answer = await answerOf(
      '/own',
      () => ({}),
      (server) =>
        server.get('/own', { config: { errorForm } }, fail(new RouterError('rate_limited', 'Slow down.'))),
    );
    expect(answer).toMatchObject({
      status: 429,
      headers: {
        'x-own': 'yes',
        'x-service-error-type': 'rate_limited',
        'x-service-request-id': 'one-call',
      },
    });
    expect(JSON.parse(answer.body)).toEqual({ own: 'Slow down.', requestId: 'one-call' });
  });

  it('bypasses the framework when hooks throw', async () => {
    const answer = await answerOf('/v2/x', fail(new RouterError('forbidden', 'No.')), (server) =>
      server.addHook('onSend', () => {
        throw new Error('a broken hook');
      }),
    );
    expect(answer).toMatchObject({ status: 500, headers: { 'x-service-error-type': 'internal_error' } });
    expect(JSON.parse(answer.body)).toMatchObject({ error_type: 'internal_error' });
  });
});
