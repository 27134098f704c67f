import { expect, it } from '@jest/globals';
import { areShapes, shapeOf } from './shapes.ts';

it.each([
  ['16:9', 16, 9],
  ['1024x1536', 1024, 1536],
  ['1024*1024', 1024, 1024],
  ['2.35:1', 2.35, 1],
  ['square_hd', 1, 1],
  ['portrait_16_9', 9, 16],
  ['landscape_4_3', 4, 3],
])('reads %s as a shape', (choice, width, height) => expect(shapeOf(choice)).toEqual({ width, height }));

it.each(['auto', '720p', 'portrait_style', '1:1:1', '0:1', 5, null])(
  'does not read %s as a shape',
  (choice) => expect(shapeOf(choice)).toBeUndefined(),
);

it('tells choices of shapes from other choices', () => {
  expect(areShapes(['adaptive', '16:9', '9:16'])).toBe(true);
  expect(areShapes(['720p', '1080p'])).toBe(false);
  expect(areShapes(['standard', 'square', 'pop', 'super_pop', 'portrait'])).toBe(false);
});
