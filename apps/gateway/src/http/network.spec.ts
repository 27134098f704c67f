import { expect, it } from '@jest/globals';
import { networkOf, wideNetworkOf } from './network.js';

it.each([
  ['203.0.113.7', '203.0.113.7', '203.0.113'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7', '203.0.113'],
  ['2001:db8:1:1234:5:6:7:8', '2001:db8:1:1234', '2001:db8:1:12'],
  ['2001:db8:1:12ff::1', '2001:db8:1:12ff', '2001:db8:1:12'],
  ['2001:db8::1', '2001:db8:0:0', '2001:db8:0:00'],
  ['2001:db8:0:ff::1', '2001:db8:0:ff', '2001:db8:0:00'],
  ['::1', '0:0:0:0', '0:0:0:00'],
])('%s is in the network %s, and in the wide network %s', (address, network, wide) => {
  expect([networkOf(address), wideNetworkOf(address)]).toEqual([network, wide]);
});
