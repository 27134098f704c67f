import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { optionalBoolean, optionalNumber } from './arguments.js';

const shape = z.object({ count: optionalNumber(z.int().min(1)), full: optionalBoolean() });

it.each([
  [
    { count: 3, full: true },
    { count: 3, full: true },
  ],
  [
    { count: '3', full: 'true' },
    { count: 3, full: true },
  ],
  [
    { count: ' 3 ', full: 'False' },
    { count: 3, full: false },
  ],
  [{ count: '', full: null }, {}],
  [{}, {}],
])('agents may write %j', (given, read) => {
  expect(shape.parse(given)).toEqual(read);
});

it.each([{ count: '0' }, { count: '1.5' }, { count: 'three' }, { full: 'yes' }, { full: 1 }])(
  'but not %j',
  (given) => expect(shape.safeParse(given).success).toBe(false),
);

it('the schema of a tool shows the plain types', () => {
  expect(z.toJSONSchema(shape, { io: 'input' })).toMatchObject({
    properties: { count: { type: 'integer', minimum: 1 }, full: { type: 'boolean' } },
  });
});
