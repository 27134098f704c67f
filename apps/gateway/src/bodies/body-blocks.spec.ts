import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { BodyBlocks } from './body-blocks.js';

const kibibyte = 1024;
const repeated = (count: number, bytes: number) => Array.from({ length: count }, () => randomBytes(bytes));

function added(chunks: readonly Buffer[]): BodyBlocks {
  const blocks = new BodyBlocks();
  for (const chunk of chunks) blocks.add(chunk);
  return blocks;
}

/** The memory behind the Buffers, including the parts that they do not show. */
const memoryOf = (blocks: readonly Buffer[]): number =>
  [...new Set(blocks.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);

it.each<[string, Buffer[], number]>([
  ['4,096 chunks of one byte', repeated(4_096, 1), 1],
  ['4 MiB in chunks of 256 bytes', repeated(16 * kibibyte, 256), 70],
  ['1 MiB in chunks of 1,400 bytes', repeated(750, 1_400), 25],
  [
    'chunks of one byte among large ones',
    repeated(64, 16 * kibibyte).flatMap((one) => [one, one.subarray(0, 1)]),
    128,
  ],
  ['large chunks', repeated(8, 64 * kibibyte), 8],
])('holds %s in few blocks', (_what, chunks, maxBlocks) => {
  const bytes = Buffer.concat(chunks);
  const blocks = added(chunks);
  expect(blocks.size).toBe(bytes.length);
  const taken = blocks.take();
  expect(Buffer.concat(taken).equals(bytes)).toBe(true);
  expect(taken.length).toBeLessThanOrEqual(maxBlocks);
  expect(memoryOf(taken)).toBeLessThan(bytes.length + 80 * kibibyte);
});

it('uses little memory for a small body', () => {
  expect(memoryOf(added([Buffer.from('{"a":1}')]).take())).toBeLessThanOrEqual(8 * kibibyte);
});

it('returns what was added since the last call', () => {
  const blocks = added([Buffer.from('one')]);
  expect(String(blocks.take())).toBe('one');
  blocks.add(Buffer.from('two'));
  expect(blocks.held).toBe(3);
  expect(String(blocks.take())).toBe('two');
  expect(blocks.take()).toEqual([]);
});

it('rejects one piece too many', () => {
  const blocks = added(repeated(4_096 + 16, 1));
  expect(() => blocks.add(Buffer.from('x'))).toThrow('The body was sent in too many small chunks.');
  const slow = added(repeated(10_000, 256));
  expect(slow.size).toBe(2_560_000);
});
