import { z } from 'zod';
import { amount, factor, pointer, pointersOf } from './price-factors.js';

const usd = amount.describe('The amount in US dollars, multiplied by all factors.');
const times = z.array(factor).default([]).describe('Factors that depend on the input.');
const reportedUnits = {
  optional: z
    .boolean()
    .optional()
    .describe(
      'Whether the reply may lack the number, which then counts as 0. If several terms have the same `path` and different `only`, the reply must have at least one of them.',
    ),
  usd: amount.describe('The price of one unit in US dollars, multiplied by all factors.'),
  times,
};

/** Runs store the names of the first release, so that releases can read each other's runs. */
const stored = <Place extends { path: string }>({ path, ...others }: Place) => ({ at: path, ...others });

const reportedTerm = z.union([
  z.strictObject({
    header: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'expected a header name in lower case')
      .describe('The name of the reply header with the number, in lower case.'),
    ...reportedUnits,
  }),
  z
    .strictObject({
      path: pointer.describe(
        'The place of the number in the reply (a JSON pointer). A text such as "12.5" also counts as a number. With `*`, several numbers are added up.',
      ),
      only: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
        .optional()
        .describe('Counts only numbers in objects that have these values.'),
      minus: pointer
        .optional()
        .describe(
          'The place of a number to subtract, because another term bills it. With `*`, several numbers are added up, from objects with the values of `only`.',
        ),
      when: z
        .strictObject({
          path: pointer.describe('The place of the other number in the reply.'),
          plus: z
            .array(pointer)
            .optional()
            .describe(
              'Places of numbers that are added to it, such as cached tokens that are not among the input tokens.',
            ),
          above: amount.optional().describe('The term counts only if the number is greater than this.'),
          up_to: amount.optional().describe('The term counts only if the number is at most this.'),
        })
        .transform(stored)
        .optional()
        .describe(
          'A condition on another number in the reply. If it is not met, the term adds nothing. Some providers, for example, charge more per token for long inputs.',
        ),
      ...reportedUnits,
    })
    .transform(stored),
  z.strictObject({
    count: pointer.describe('The place of a list in the reply. Its length is the number.'),
    ...reportedUnits,
  }),
]);

/** The price of a run: a formula over its input, and the places of the usage in the reply. */
export const price = z.strictObject({
  usd,
  times,
  plus: z.array(z.strictObject({ usd, times })).default([]).describe('More terms, which are added.'),
  reported: z
    .array(reportedTerm)
    .default([])
    .describe(
      'Terms over numbers in the reply. If the reply has all of them, their sum is billed instead of the computed price, up to the upper bound.',
    ),
  likely: z
    .strictObject({
      tokens: z
        .int()
        .min(1)
        .describe('The number of tokens that 99 of 100 answers do not exceed if the input sets no limit.'),
      date: z.iso.date().describe('The day on which the number was chosen.'),
    })
    .optional()
    .describe(
      'The likely length of an answer. Workspaces whose `reservation` is `likely` reserve it instead of `max` of a number that the input leaves open. Once enough runs have finished, the length that they show replaces it.',
    ),
  source: z.string().min(1).optional().describe('The document from which the price was taken.'),
  date: z.iso.date().optional().describe('The day on which the price was read.'),
});

const datedPrice = price.extend({
  from: z.iso
    .date()
    .optional()
    .describe(
      'The first day (UTC) of the price, which also ends the price before it. Required except in the first price, which also applies before its day.',
    ),
});

export type Price = z.infer<typeof datedPrice>;

/** One price, or several that follow each other. */
export const prices = z.union([
  price,
  z
    .array(datedPrice)
    .min(1)
    .superRefine((list, context) => {
      for (const [index, { from }] of list.entries()) {
        const before = list[index - 1];
        if (before === undefined) continue;
        const path = [index, 'from'];
        if (from === undefined) {
          context.addIssue({
            code: 'custom',
            path,
            message: 'every price after the first needs the day from which it applies',
          });
        } else if (from <= (before.from ?? '')) {
          const message = `must be later than ${before.from}, the day of the price before it`;
          context.addIssue({ code: 'custom', path, message });
        }
      }
    }),
]);

/** The price in force at a time. */
export const priceAt = (prices: readonly Price[], atMs: number): Price =>
  prices.reduce((inForce, later) => (Date.parse(later.from ?? '') <= atMs ? later : inForce));

/** The places in the input that a price depends on. */
export const pricePointers = (price: Price): string[] =>
  [price, ...price.plus, ...price.reported].flatMap(({ times }) => times).flatMap(pointersOf);
