import { z } from 'zod';
import { amount, factor, pointer, pointersOf } from './price-factors.js';

const usd = amount.describe('Dollars, times every factor.');
const times = z.array(factor).default([]).describe('Factors over the input.');
const unitUsd = amount.describe('Dollars a unit, times every factor.');
const optional = z
  .boolean()
  .optional()
  .describe(
    'Nothing is added where the reply does not have it; of several with one `at` and another `only` it has to have one.',
  );

const reportedTerm = z.union([
  z.strictObject({
    at: pointer.describe('Where the reply has the number, a text such as "12.5" included; `*` adds up.'),
    only: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Only of objects that hold these values beside it.'),
    minus: pointer
      .optional()
      .describe(
        'Where it has a part of the number that another term bills; `*` adds up, of objects that hold the values of `only`.',
      ),
    when: z
      .strictObject({
        at: pointer.describe('A number of the reply.'),
        above: amount.optional().describe('It is larger.'),
        up_to: amount.optional().describe('It is no larger.'),
      })
      .optional()
      .describe('Else nothing is added: some providers charge more a token where there are many.'),
    optional,
    usd: unitUsd,
    times,
  }),
  z.strictObject({
    header: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'a header name in lower case')
      .describe('The header of the reply that has the number.'),
    optional,
    usd: unitUsd,
    times,
  }),
  z.strictObject({
    count: pointer.describe('A list of the reply whose elements count.'),
    optional,
    usd: unitUsd,
    times,
  }),
]);

/** What a run costs, as an expression over its input, and where the reply tells what was used. */
export const price = z.strictObject({
  usd,
  times,
  plus: z.array(z.strictObject({ usd, times })).default([]).describe('Further terms, added.'),
  reported: z
    .array(reportedTerm)
    .default([])
    .describe(
      'What the reply says the run cost: the sum of these terms is billed where a reply has them all.',
    ),
  source: z.string().min(1).optional().describe('Where the figures were read.'),
  date: z.iso.date().optional().describe('When they were read.'),
});

export type Price = z.infer<typeof price>;

/** The inputs that a price reads. */
export const pricePointers = (price: Price): string[] =>
  [price, ...price.plus, ...price.reported].flatMap(({ times }) => times).flatMap(pointersOf);
