import { expect, it } from '@jest/globals';
import { requestedRange } from './ranges.js';

it.each([
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=90-', { start: 90, end: 99 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=100-', null],
  ['bytes=-0', null],
  ['bytes=9-0', undefined],
  ['bytes=0-1,3-4', undefined],
  ['bytes=-', undefined],
  ['pages=0-1', undefined],
  [undefined, undefined],
])('%s of 100 bytes', (header, range) => {
  expect(requestedRange(header, 100)).toEqual(range);
});

it('selects nothing of an empty file', () => {
  expect(requestedRange('bytes=0-', 0)).toBeNull();
});
