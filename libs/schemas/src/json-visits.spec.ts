import { expect, it } from '@jest/globals';
import { placesOf } from './json-text.js';

it('visits each member on the way, with the number of bytes so far outside the places', () => {
  const json = Buffer.from('{"b":{"c":1},"a":{"u":[1,2,3],"v":2}}');
  const visits: number[] = [];
  placesOf(json, ['/a/u'], (bytesBeside) => visits.push(bytesBeside));
  expect(visits).toEqual([5, 17, 22, 27]);
});

it('ends the search when its visitor throws', () => {
  let visits = 0;
  const visit = () => {
    visits += 1;
    if (visits === 3) throw new Error('enough');
  };
  expect(() => placesOf(Buffer.from('{"a":1,"b":2,"c":3,"d":4}'), ['/d'], visit)).toThrow('enough');
  expect(visits).toBe(3);
});
