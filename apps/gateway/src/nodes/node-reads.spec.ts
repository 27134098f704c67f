import { expect, it } from '@jest/globals';
import { NodeReads } from './node-reads.js';

const spent = { bucket: 'rate_limited', status: 500 };

it('lets an address read at its rate, and six seconds of it at once', () => {
  let nowMs = 0;
  const reads = new NodeReads(60, 1, () => nowMs);
  const read = () => reads.count('192.0.2.1');
  for (let nth = 0; nth < 6; nth += 1) read();
  expect(read).toThrow(expect.objectContaining(spent));
  reads.count('192.0.2.2');
  for (let nth = 0; nth < 100; nth += 1) {
    nowMs += 1000;
    read();
    expect(read).toThrow(expect.objectContaining(spent));
  }
  nowMs += 60_000;
  for (let nth = 0; nth < 6; nth += 1) read();
  expect(read).toThrow(expect.objectContaining(spent));
});

it('counts a network of IPv6 as one address', () => {
  const reads = new NodeReads(10, 1, () => 0);
  const refused = (address: string) =>
    expect(() => reads.count(address)).toThrow(expect.objectContaining(spent));
  reads.count('2001:db8:0:1::7');
  refused('2001:db8::1:0:0:0:8');
  reads.count('2001:db8:0:2::7');
  reads.count('::ffff:192.0.2.1');
  reads.count('::ffff:192.0.2.2');
  refused('::ffff:192.0.2.1');
});

it('reads in turns of the addresses, so many at a time', async () => {
  const reads = new NodeReads(100_000, 1);
  const order: string[] = [];
  let alive = 0;
  const read = (what: string) =>
    reads.inTurn(what.slice(0, 1), async () => {
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

it('refuses an address of which 1,000 reads wait', () => {
  const reads = new NodeReads(100_000, 1);
  for (let nth = 0; nth <= 1000; nth += 1) {
    reads.count('a');
    void reads.inTurn('a', () => new Promise(() => {}));
  }
  expect(() => reads.count('a')).toThrow(expect.objectContaining(spent));
  reads.count('b');
});
