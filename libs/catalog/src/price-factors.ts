import { z } from 'zod';

export const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /num_images');
export const amount = z.number().min(0);
const most = 'What the upper bound takes in its place; without it, the default.';
const minus = amount.default(0).describe('Units that the amount before already covers.');

const flags = z
  .strictObject({
    at: pointer.describe('A text of the input, such as the prompt; `*` for every element.'),
    names: z
      .array(z.string().regex(/^[a-z_]+$/))
      .min(1)
      .describe('Names of options: `rs` is written --rs in the text.'),
  })
  .optional()
  .describe(
    'Options in a text that set the same quantity: where one is written, the upper bound takes the most.',
  );

const number = z
  .strictObject({
    number: pointer.describe('A number of the input, or a text such as "5" or "5s"; `*` adds up.'),
    or: z
      .array(
        z.strictObject({
          at: pointer.describe('Another member for the same quantity; `*` adds up.'),
          per: z.number().positive().default(1).describe('How many of its units make one of `number`.'),
        }),
      )
      .default([])
      .describe('Other members for the same quantity: of those that are given the largest counts.'),
    min: amount.default(1).describe('The fewest that are billed; a smaller number counts as this.'),
    flags,
    default: amount
      .default(1)
      .describe('What the provider assumes when the caller names no positive number.'),
    most: amount.optional().describe(most),
    per: z
      .number()
      .positive()
      .default(1)
      .describe('How many of them make one unit: 60 for a price a minute.'),
    minus,
  })
  .refine((factor) => (factor.most ?? Infinity) >= factor.default, { message: 'most is not below default' })
  .refine(({ flags: given, most: bound }) => !given || bound !== undefined, {
    message: 'flags need a most',
  });

const table = z
  .strictObject({
    table: pointer.describe('A text, number or boolean of the input.'),
    or: z
      .array(pointer)
      .default([])
      .describe('Other members for the same choice: of those that are given the dearest counts.'),
    flags,
    values: z
      .record(z.string(), amount)
      .describe(
        'The factor of each value. `wide*` is any value that begins so, `*` any other; the first that fits counts.',
      ),
    default: z
      .union([z.string(), z.number(), z.boolean()])
      .optional()
      .describe(
        'The value that the provider assumes; without it, and for a value that no key fits, the dearest counts.',
      ),
  })
  .refine((factor) => factor.default === undefined || keyOf(factor, factor.default) !== undefined, {
    message: 'default is a key of values',
  });

const characters = z.strictObject({
  characters: pointer.describe('A text of the input; `*` adds up.'),
  per: z.number().positive().default(1).describe('How many characters make one unit.'),
  most: z
    .number()
    .min(1)
    .default(1)
    .describe('As how many the upper bound counts each: 2 where a provider counts some twice.'),
});

const megapixels = z
  .strictObject({
    megapixels: z.tuple([pointer, pointer]).describe('Width and height in the input, in pixels.'),
    default: amount.default(1).describe('Megapixels when a side is missing.'),
    most: amount.optional().describe(most),
    min: amount.default(0).describe('The fewest that are billed.'),
    minus,
  })
  .refine((factor) => (factor.most ?? Infinity) >= factor.default, { message: 'most is not below default' });

const present = z
  .strictObject({
    present: z
      .array(z.union([pointer, z.literal('')]))
      .min(1)
      .describe(
        'Members of the input, "" for the input itself, which is always there, `*` for every element: each that is there counts, and of a list each element; null, false and "" do not.',
      ),
    each: amount.default(1).describe('What one counts.'),
    most: amount.optional().describe('What one counts in the upper bound; without it, as `each`.'),
    at_most: amount.optional().describe('How many count at most.'),
  })
  .refine((factor) => (factor.most ?? Infinity) >= factor.each, { message: 'most is not below each' });

const tokens = z.strictObject({
  tokens: z
    .union([pointer, z.literal('')])
    .describe('A part of the input, or "" for all of it: four characters of its texts are taken as a token.'),
  most: amount.describe('What the upper bound takes: a token count that the provider does not exceed.'),
  references: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Names of members, at any depth and in whatever spelling, that stand for more than their own text: links, ids of files, tools. Of a part without any of them no more is taken than a token a byte.',
    ),
});

const absent = z.strictObject({
  absent: z
    .array(pointer)
    .min(1)
    .describe('Members of the input: 1 when none of them is there, otherwise 0.'),
});

export const factor = z.union([number, table, characters, megapixels, present, absent, tokens]);
export type Factor = z.infer<typeof factor>;

/** The inputs that a factor reads. */
export function pointersOf(factor: Factor): string[] {
  if ('present' in factor) return factor.present;
  if ('absent' in factor) return factor.absent;
  if ('megapixels' in factor) return factor.megapixels;
  if ('number' in factor) return [factor.number, ...factor.or.map(({ at }) => at), ...textOf(factor)];
  if ('table' in factor) return [factor.table, ...factor.or, ...textOf(factor)];
  return ['tokens' in factor ? factor.tokens : factor.characters];
}

const textOf = ({ flags: given }: { flags?: { at: string } | undefined }): string[] =>
  given ? [given.at] : [];

/** The key of a table that a value falls under: itself, else the first `wide*` that it begins with. */
export function keyOf({ values }: { values: Record<string, number> }, value: unknown): string | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  const text = String(value);
  if (Object.hasOwn(values, text)) return text;
  return Object.keys(values).find((key) => key.endsWith('*') && text.startsWith(key.slice(0, -1)));
}
