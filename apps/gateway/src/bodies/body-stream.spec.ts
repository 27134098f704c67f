import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { bodyStream } from './body-stream.js';

const kibibyte = 1024;
const request = (): IncomingMessage => new IncomingMessage(new Socket());
const read = async (from: IncomingMessage, maxBytes = 100 * 1024 * kibibyte): Promise<number> => {
  let size = 0;
  for await (const chunk of bodyStream(from, maxBytes)) size += chunk.length;
  return size;
};

afterEach(() => void jest.useRealTimers());

describe('bodyStream', () => {
  it('yields a body as it arrives', async () => {
    const body = request();
    const reading = read(body);
    for (const chunk of ['one', 'two', null]) body.push(chunk);
    expect(await reading).toBe(6);
  });

  it('joins small chunks, and stops reading while they wait', async () => {
    const body = request();
    const blocks = bodyStream(body, 1024 * kibibyte);
    const first = blocks.next();
    await Promise.resolve();
    for (let sent = 0; sent < 1_000; sent += 1) body.push('x'.repeat(1_000));
    let [count, size] = [1, ((await first).value as Buffer).length];
    expect(body.isPaused()).toBe(true);
    body.push(null);
    for await (const block of blocks) [count, size] = [count + 1, size + block.length];
    expect(size).toBe(1_000_000);
    expect(count).toBeLessThan(150);
  });

  it('rejects a body in too many small chunks', async () => {
    const body = request();
    const reading = read(body);
    reading.catch(() => {});
    for (let sent = 0; sent < 20_000; sent += 1) body.push('x');
    await expect(reading).rejects.toMatchObject({
      status: 400,
      publicDetail: 'The body was sent in too many small chunks.',
      headers: { Connection: 'close' },
    });
  });

  it('rejects a body that arrives slower than 16 KiB a second', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const body = request();
    const reading = read(body);
    reading.catch(() => {});
    for (const bytes of [240, 240, 239, 0]) {
      body.push('x'.repeat(bytes * kibibyte));
      await jest.advanceTimersByTimeAsync(14_999);
    }
    await jest.advanceTimersByTimeAsync(2);
    await expect(reading).rejects.toMatchObject({ status: 400, headers: { Connection: 'close' } });
  });

  it('does not hold a slow store against the caller', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const body = request();
    const chunks = bodyStream(body, 100);
    for (const chunk of ['one', 'two', null]) {
      body.push(chunk);
      expect((await chunks.next()).done).toBe(chunk === null);
      await jest.advanceTimersByTimeAsync(60_000);
    }
  });

  it('discards the rest of a body above the limit', async () => {
    const body = request();
    const reading = read(body, 5);
    body.push('123456');
    await expect(reading).rejects.toMatchObject({ status: 413 });
    body.push('more');
    body.push(null);
    await new Promise((ended) => body.on('end', ended));
  });

  it('fails when the caller disconnects, before or during the read', async () => {
    const early = request();
    early.destroy();
    await expect(read(early)).rejects.toMatchObject({ bucket: 'client_disconnected' });
    const late = request();
    const reading = read(late);
    late.destroy();
    await expect(reading).rejects.toMatchObject({ bucket: 'client_disconnected' });
  });
});
