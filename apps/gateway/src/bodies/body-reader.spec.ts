import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Metrics } from '#observability';
import { BodyBudget, BodyReader } from './body-reader.js';

/** A request as Node's parser delivers it, chunk by chunk. */
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

const reader = (limit: number, budget = 1000) =>
  new BodyReader(new BodyBudget({ BODY_BUDGET: budget }, new Metrics()), { BODY_LIMIT: limit });
const kibibyte = 1024;

afterEach(() => void jest.useRealTimers());

describe('BodyReader', () => {
  it('joins the chunks of a body', async () => {
    const { bytes } = await reader(100).readBody(requestOf(['{"a"', ':1}', null]), 'one');
    expect(bytes.toString()).toBe('{"a":1}');
  });

  it('stops at the limit', async () => {
    await expect(reader(5).readBody(requestOf(['{"a"', ':1}', null]), 'one')).rejects.toMatchObject({
      status: 413,
    });
  });

  it('rejects a body in too many small chunks, and holds none of them', async () => {
    const request = requestOf([]);
    const seen: Buffer[] = [];
    const reading = reader(32 * 1024 * kibibyte).readBody(request, 'one', {
      seen: (chunk) => seen.push(chunk),
    });
    reading.catch(() => {});
    for (let sent = 0; sent < 20_000; sent += 1) request.push(' ');
    request.push(null);
    await expect(reading).rejects.toMatchObject({
      status: 400,
      publicDetail: 'The body was sent in too many small chunks.',
      headers: { Connection: 'close' },
    });
    expect(seen.length).toBeLessThan(4_200);
  });

  it('accepts the segments of a slow connection', async () => {
    const chunks = Array.from({ length: 8_000 }, () => ' '.repeat(500));
    const reading = reader(32 * 1024 * kibibyte, 32 * 1024 * kibibyte).readBody(
      requestOf([...chunks, null]),
      'one',
    );
    expect((await reading).bytes.length).toBe(4_000_000);
  });

  it('always accepts a small body, and a large one while its workspace holds less than is free', async () => {
    const bodies = reader(100 * kibibyte, 300 * kibibyte);
    const large = (workspace: string) =>
      bodies.readBody(requestOf(['x'.repeat(100 * kibibyte), null]), workspace);
    const busy = { bucket: 'service_unavailable' };
    const ownFault = { bucket: 'concurrency_limit_exceeded' };
    const first = await large('one');
    await expect(large('one')).rejects.toMatchObject(ownFault);
    const other = await large('other');
    await expect(large('third')).rejects.toMatchObject(busy);
    for (const workspace of ['one', 'other', 'third'])
      (await bodies.readBody(requestOf(['x'.repeat(64 * kibibyte), null]), workspace)).release();
    first.release();
    first.release();
    await expect(large('other')).rejects.toMatchObject(ownFault);
    (await large('one')).release();
    other.release();
    (await large('other')).release();
  });

  it('rejects a body that arrives slower than 16 KiB a second', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const request = requestOf([]);
    const reading = reader(32 * 1024 * kibibyte, 128 * 1024 * kibibyte).readBody(request, 'one');
    reading.catch(() => {});
    for (const bytes of [240, 240, 239]) {
      request.push('x'.repeat(bytes * kibibyte));
      await jest.advanceTimersByTimeAsync(14_999);
    }
    await jest.advanceTimersByTimeAsync(14_999);
    await expect(reading).rejects.toMatchObject({ status: 400, headers: { Connection: 'close' } });
  });

  it('fails when the caller disconnects, before or during the read', async () => {
    const early = requestOf(['{']);
    early.destroy();
    await expect(reader(10).readBody(early, 'one')).rejects.toMatchObject({ bucket: 'client_disconnected' });
    const late = requestOf(['{']);
    const reading = reader(10).readBody(late, 'one');
    late.destroy();
    await expect(reading).rejects.toMatchObject({ bucket: 'client_disconnected' });
  });
});
