import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { maxReadBytes, ownRoutes, type RouteAnswer } from './own-routes.js';
import { outputResult } from './tool-results.js';

const chunk = Buffer.alloc(64 * 1024, 'a');
const chunksOfAFile = 1600;

describe('ownRoutes', () => {
  const server = fastify();
  /** The source of the last answer with many bytes. */
  let source: Readable;
  let producedBytes: number;
  /** Calls the routes of one request. */
  let calls: (path: string) => Promise<RouteAnswer>;

  beforeAll(async () => {
    server.get('/many', (_request, reply) => {
      producedBytes = 0;
      function* chunks() {
        for (let count = 0; count < chunksOfAFile; count += 1) {
          producedBytes += chunk.length;
          yield chunk;
        }
      }
      source = Readable.from(chunks(), { objectMode: false, highWaterMark: chunk.length });
      return reply.type('audio/mpeg').send(source);
    });
    server.get('/long', (_request, reply) =>
      reply.type('audio/mpeg').header('content-length', 5_000_000).send(Readable.from([])),
    );
    server.get('/few', (_request, reply) => reply.code(201).type('audio/mpeg').send(Buffer.from('abc')));
    server.get('/request', async (request) => {
      const routes = ownRoutes(request);
      calls = (path) => routes('GET', path);
      return {};
    });
    await server.inject('/request');
  });
  afterAll(() => server.close());

  it('reads a whole body', async () => {
    const answer = await calls('/few');
    expect(answer.status).toBe(201);
    expect((await answer.read())?.toString()).toBe('abc');
  });

  it.each(['read', 'discard'] as const)('holds at most a mebibyte of a larger body: %s', async (how) => {
    const answer = await calls('/many');
    const closed = once(source, 'close');
    expect(await answer[how]()).toBeUndefined();
    await closed;
    expect(producedBytes).toBeLessThan(2 * maxReadBytes);
  });

  it('shows a small audio file, and only the size of a large one', async () => {
    const small = await outputResult(await calls('/few'), {});
    expect(small.content[1]).toMatchObject({ type: 'audio', data: Buffer.from('abc').toString('base64') });
    const large = await outputResult(await calls('/long'), {});
    expect(large.content).toMatchObject([{ text: expect.stringContaining('5000000 bytes of audio/mpeg') }]);
  });
});
