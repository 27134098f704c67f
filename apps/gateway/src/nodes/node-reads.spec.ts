import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeReads } from './node-reads.js';

const spent = { bucket: 'rate_limited', status: 500 };

const nothing = () => Promise.resolve();
const endless = () => new Promise<void>(() => {});

it('lets an address read at its rate, with a burst of six seconds', async () => {
  let nowMs = 0;
  const reads = new NodeReads(60, 1, () => nowMs);
  const read = () => reads.take('192.0.2.1', nothing);
  for (let nth = 0; nth < 6; nth += 1) await read();
  await expect(read()).rejects.toMatchObject(spent);
  await reads.take('192.0.2.2', nothing);
  for (let nth = 0; nth < 100; nth += 1) {
    nowMs += 1000;
    await read();
    await expect(read()).rejects.toMatchObject(spent);
  }
  nowMs += 60_000;
  for (let nth = 0; nth < 6; nth += 1) await read();
  await expect(read()).rejects.toMatchObject(spent);
});

it('counts an IPv6 network as one address', async () => {
  const reads = new NodeReads(10, 1, () => 0);
  const read = (address: string) => reads.take(address, nothing);
  await read('2001:db8:0:1::7');
  await expect(read('2001:db8::1:0:0:0:8')).rejects.toMatchObject(spent);
  await read('2001:db8:0:2::7');
  await read('::ffff:192.0.2.1');
  await read('::ffff:192.0.2.2');
  await expect(read('::ffff:192.0.2.1')).rejects.toMatchObject(spent);
});

it('lets addresses take turns, up to the maximum number of reads at a time', async () => {
  const reads = new NodeReads(100_000, 1);
  const order: string[] = [];
  let alive = 0;
  const read = (what: string) =>
    reads.take(what.slice(0, 1), async () => {
      alive += 1;
      expect(alive).toBe(1);
      await Promise.resolve();
      order.push(what);
      alive -= 1;
    });
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(read));
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  await read('d1');
});

it('rejects an address with 1,000 waiting reads', async () => {
  const reads = new NodeReads(100_000, 1);
  for (let nth = 0; nth <= 1000; nth += 1) void reads.take('a', endless);
  await expect(reads.take('a', endless)).rejects.toMatchObject(spent);
  // Another address still waits for its turn.
  const other = reads.take('b', endless);
  expect(await Promise.race([other, nextTurn('waits')])).toBe('waits');
});
