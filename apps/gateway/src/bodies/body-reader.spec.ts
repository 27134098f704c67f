import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { BodyReader } from './body-reader.js';

/** A request as the parser hands it over; chunks arrive one after the other. */
function requestOf(chunks: (string | null)[], headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(
    request.headers,
    { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    headers,
  );
  for (const chunk of chunks) request.push(chunk);
  return request;
}

const reader = (limit: number, budget: number) => new BodyReader({ BODY_LIMIT: limit, BODY_BUDGET: budget });

describe('BodyReader', () => {
  it('joins the chunks of a body', async () => {
    const { bytes } = await reader(100, 100).read(requestOf(['{"a"', ':1}', null]));
    expect(bytes.toString()).toBe('{"a":1}');
  });

  it('stops at the limit', async () => {
    await expect(reader(5, 100).read(requestOf(['{"a"', ':1}', null]))).rejects.toMatchObject({
      status: 413,
    });
  });

  it('refuses bodies above what all of them may take together, until one is released', async () => {
    const bodies = reader(10, 15);
    const first = await bodies.read(requestOf(['0123456789', null]));
    await expect(bodies.read(requestOf(['0123456789', null]))).rejects.toMatchObject({
      bucket: 'service_unavailable',
    });
    first.release();
    first.release();
    const second = await bodies.read(requestOf(['0123456789', null]));
    await expect(bodies.read(requestOf(['0123456789', null]))).rejects.toMatchObject({
      bucket: 'service_unavailable',
    });
    second.release();
  });

  it('ends when the caller goes away, before or while it reads', async () => {
    const early = requestOf(['{']);
    early.destroy();
    await expect(reader(10, 10).read(early)).rejects.toMatchObject({ bucket: 'client_disconnected' });
    const late = requestOf(['{']);
    const reading = reader(10, 10).read(late);
    late.destroy();
    await expect(reading).rejects.toMatchObject({ bucket: 'client_disconnected' });
  });
});
