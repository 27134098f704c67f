import { z } from 'zod';

export const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /num_images');
export const amount = z.number().min(0);
const max =
  'The largest value that the provider may use if the input leaves it open; the upper bound takes it. Left out, the default.';
const minus = amount.default(0).describe('Units to subtract, because another term bills them.');

const flags = z
  .strictObject({
    path: pointer.describe('The place of a text in the input, such as the prompt; `*` for every element.'),
    names: z
      .array(z.string().regex(/^[a-z_]+$/))
      .min(1)
      .describe('Names of options: `rs` for an option --rs.'),
  })
  .optional()
  .describe('Options inside a text that also set this value. With one, the upper bound is the highest.');

const number = z
  .strictObject({
    number: pointer.describe(
      'The place of a number in the input, or of a text such as "5" or "5s". Several numbers at `*` are added up.',
    ),
    alternatives: z
      .array(
        z.strictObject({
          path: pointer.describe(
            'The place of another field for the same quantity. Numbers at `*` are added up.',
          ),
          per: z.number().positive().default(1).describe('How many of its units make one unit of `number`.'),
        }),
      )
      .default([])
      .describe('Other fields for the same quantity. The largest one in the input counts.'),
    min: amount.default(1).describe('The minimum that is billed.'),
    flags,
    default: amount.default(1).describe('The provider’s default, used if the input has no positive number.'),
    max: amount.optional().describe(max),
    per: z
      .number()
      .positive()
      .default(1)
      .describe('The size of a unit: 60 for a price per minute over a number of seconds.'),
    minus,
  })
  .refine((factor) => (factor.max ?? Infinity) >= factor.default, { message: 'max is not below default' })
  .refine(({ flags: given, max: bound }) => !given || bound !== undefined, {
    message: 'flags need a max',
  });

const table = z
  .strictObject({
    table: pointer.describe('The place of a text, number or boolean in the input.'),
    alternatives: z
      .array(pointer)
      .default([])
      .describe('Other fields for the same choice. The most expensive one in the input counts.'),
    flags,
    values: z
      .record(z.string(), amount)
      .describe(
        'The factor of each value. `wide*` matches values that begin with “wide”, `*` matches all others; the first match counts.',
      ),
    default: z
      .union([z.string(), z.number(), z.boolean()])
      .optional()
      .describe('The provider’s default. Without it, and for other values, the most expensive one counts.'),
  })
  .refine((factor) => factor.default === undefined || keyOf(factor, factor.default) !== undefined, {
    message: 'default is a key of values',
  });

const characters = z.strictObject({
  characters: pointer.describe('The place of a text in the input. Several texts at `*` are added up.'),
  per: z.number().positive().default(1).describe('The number of characters in one unit.'),
  max_each: z
    .number()
    .min(1)
    .default(1)
    .describe('How often the upper bound counts each character: 2 if the provider counts some twice.'),
});

const megapixels = z
  .strictObject({
    megapixels: z
      .tuple([pointer, pointer])
      .describe('The places of width and height in the input, in pixels.'),
    default: amount.default(1).describe('The megapixels if the input lacks width or height.'),
    max: amount.optional().describe(max),
    min: amount.default(0).describe('The minimum that is billed.'),
    minus,
  })
  .refine((factor) => (factor.max ?? Infinity) >= factor.default, { message: 'max is not below default' });

const present = z
  .strictObject({
    present: z
      .array(z.union([pointer, z.literal('')]))
      .min(1)
      .describe(
        'Fields of the input to count; "" is the input itself and always counts. Each element of a list counts; null, false and "" do not.',
      ),
    each: amount.default(1).describe('What each of them adds.'),
    max_each: amount
      .optional()
      .describe('What each of them adds to the upper bound. Left out, the value of `each`.'),
    max_count: amount.optional().describe('How many of them count at most.'),
  })
  .refine((factor) => (factor.max_each ?? Infinity) >= factor.each, {
    message: 'max_each is not below each',
  });

const tokens = z.strictObject({
  tokens: z
    .union([pointer, z.literal('')])
    .describe('A part of the input, or "" for all of it. Four characters are estimated as one token.'),
  max: amount.describe('The upper bound: a number of tokens that the provider never exceeds.'),
  unbounded_fields: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Fields, at any depth and in any spelling, whose content may have more tokens than their text: links, ids of files, tools. Without such a field, the upper bound is one token per byte.',
    ),
});

const absent = z.strictObject({
  absent: z
    .array(pointer)
    .min(1)
    .describe('Fields of the input: the factor is 1 if none has a value, otherwise 0.'),
});

export const factor = z.union([number, table, characters, megapixels, present, absent, tokens]);
export type Factor = z.infer<typeof factor>;

/** The inputs that a factor reads. */
export function pointersOf(factor: Factor): string[] {
  if ('present' in factor) return factor.present;
  if ('absent' in factor) return factor.absent;
  if ('megapixels' in factor) return factor.megapixels;
  if ('number' in factor)
    return [factor.number, ...factor.alternatives.map(({ path }) => path), ...textOf(factor)];
  if ('table' in factor) return [factor.table, ...factor.alternatives, ...textOf(factor)];
  return ['tokens' in factor ? factor.tokens : factor.characters];
}

const textOf = ({ flags: given }: { flags?: { path: string } | undefined }): string[] =>
  given ? [given.path] : [];

/** The key of a table that a value falls under: itself, else the first `wide*` that it begins with. */
export function keyOf({ values }: { values: Record<string, number> }, value: unknown): string | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  const text = String(value);
  if (Object.hasOwn(values, text)) return text;
  return Object.keys(values).find((key) => key.endsWith('*') && text.startsWith(key.slice(0, -1)));
}
