import { z } from 'zod';
import { amount, factor, pointer, pointersOf } from './price-factors.js';

const usd = amount.describe('Dollars, multiplied by every factor.');
const times = z.array(factor).default([]).describe('Factors that depend on the input.');
const reportedUnits = {
  optional: z
    .boolean()
    .optional()
    .describe(
      'Whether the reply may lack the number; the term then adds nothing. Of several terms with the same `path` and different `only`, the reply must have at least one.',
    ),
  usd: amount.describe('Dollars per unit, multiplied by every factor.'),
  times,
};

/** Runs store these names of the first release, so that each release can read the runs of the other. */
const stored = <Place extends { path: string }>({ path, ...others }: Place) => ({ at: path, ...others });

const reportedTerm = z.union([
  z
    .strictObject({
      path: pointer.describe(
        'The place of the number in the reply; a text such as "12.5" counts as a number. Several numbers at `*` are added up.',
      ),
      only: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('Counts only numbers in objects that have these values.'),
      minus: pointer
        .optional()
        .describe(
          'The place of a number to subtract, because another term bills it. Several numbers at `*` are added up, in objects with the values of `only`.',
        ),
      when: z
        .strictObject({
          path: pointer.describe('The place of a number in the reply.'),
          above: amount.optional().describe('The number is larger than this.'),
          up_to: amount.optional().describe('The number is not larger than this.'),
        })
        .transform(stored)
        .optional()
        .describe(
          'A range of another number. Outside the range the term adds nothing: some providers charge more per token for long inputs.',
        ),
      ...reportedUnits,
    })
    .transform(stored),
  z.strictObject({
    header: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'a header name in lower case')
      .describe('The header of the reply that has the number.'),
    ...reportedUnits,
  }),
  z.strictObject({
    count: pointer.describe('The place of a list in the reply; the number is its length.'),
    ...reportedUnits,
  }),
]);

/** The price of a run, as an expression over its input, and the places of the usage in the reply. */
export const price = z.strictObject({
  usd,
  times,
  plus: z.array(z.strictObject({ usd, times })).default([]).describe('More terms to add.'),
  reported: z
    .array(reportedTerm)
    .default([])
    .describe('Terms over numbers in the reply. Their sum is billed if the reply has all of them.'),
  source: z.string().min(1).optional().describe('The document in which the price was read.'),
  date: z.iso.date().optional().describe('The day on which the price was read.'),
});

export type Price = z.infer<typeof price>;

/** The inputs that a price reads. */
export const pricePointers = (price: Price): string[] =>
  [price, ...price.plus, ...price.reported].flatMap(({ times }) => times).flatMap(pointersOf);
