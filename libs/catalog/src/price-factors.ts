import { z } from 'zod';

export const pointer = z.string().regex(/^(\/[^/]+)+$/, 'expected a JSON pointer such as /num_images');
export const amount = z.number().min(0);
const max =
  'The largest value that the provider may use if the input does not set it. The upper bound uses it. Defaults to `default`.';
const minus = amount.default(0).describe('The number of units to subtract, because another term bills them.');

const flags = z
  .strictObject({
    path: pointer.describe(
      'The place of a text in the input, such as the prompt. `*` stands for every element.',
    ),
    names: z
      .array(z.string().regex(/^[a-z_]+$/))
      .min(1)
      .describe('The names of the options: `rs` for an option `--rs`.'),
  })
  .optional()
  .describe(
    'Options inside a text that also set this value. If the text has one, the upper bound uses the highest value.',
  );

const number = z
  .strictObject({
    number: pointer.describe(
      'The place of a number in the input, or of a text such as "5" or "5s". With `*`, several numbers are added up.',
    ),
    alternatives: z
      .array(
        z.strictObject({
          path: pointer.describe(
            'The place of another field for the same quantity. With `*`, several numbers are added up.',
          ),
          per: z
            .number()
            .positive()
            .default(1)
            .describe('How many units of this field make one unit of `number`.'),
        }),
      )
      .default([])
      .describe('Other fields for the same quantity. The largest value in the input counts.'),
    min: amount.default(1).describe('The minimum that is billed, in units of `number`.'),
    flags,
    default: amount.default(1).describe('The provider’s default, used if the input has no positive number.'),
    max: amount.optional().describe(max),
    per: z
      .number()
      .positive()
      .default(1)
      .describe('The size of a billed unit: 60 for a price per minute if `number` is in seconds.'),
    minus,
  })
  .refine((factor) => (factor.max ?? Infinity) >= factor.default, {
    message: 'max must not be below default',
  })
  .refine(({ flags: given, max: bound }) => !given || bound !== undefined, {
    message: 'flags require max',
  });

const table = z
  .strictObject({
    table: pointer.describe('The place of a text, number or boolean in the input.'),
    alternatives: z
      .array(pointer)
      .default([])
      .describe('Other fields for the same choice. The most expensive value in the input counts.'),
    flags,
    values: z
      .record(z.string(), amount)
      .describe(
        'The factor of each value. `wide*` matches values that begin with “wide”, and `*` matches all others. The first match counts.',
      ),
    default: z
      .union([z.string(), z.number(), z.boolean()])
      .optional()
      .describe(
        'The provider’s default value, used if the input has none. Without it, and for unknown values, the most expensive value counts.',
      ),
  })
  .refine((factor) => factor.default === undefined || keyOf(factor, factor.default) !== undefined, {
    message: 'default must match a key of values',
  });

const characters = z.strictObject({
  characters: pointer.describe(
    'The place of a text in the input. With `*`, the lengths of several texts are added up.',
  ),
  per: z.number().positive().default(1).describe('The number of characters in one billed unit.'),
  max_each: z
    .number()
    .min(1)
    .default(1)
    .describe(
      'How often the upper bound counts each character: 2 if the provider counts some characters twice.',
    ),
});

const megapixels = z
  .strictObject({
    megapixels: z
      .tuple([pointer, pointer])
      .describe('The places of width and height in the input, in pixels.'),
    default: amount.default(1).describe('The number of megapixels if the input lacks width or height.'),
    max: amount.optional().describe(max),
    min: amount.default(0).describe('The minimum that is billed, in megapixels.'),
    minus,
  })
  .refine((factor) => (factor.max ?? Infinity) >= factor.default, {
    message: 'max must not be below default',
  });

const present = z
  .strictObject({
    present: z
      .array(z.union([pointer, z.literal('')]))
      .min(1)
      .describe(
        'Fields of the input to count. Each element of a list counts separately; null, false and "" do not count. An empty pointer is the input itself, which always counts once.',
      ),
    each: amount.default(1).describe('How much each counted field or element adds.'),
    max_each: amount
      .optional()
      .describe('How much each of them adds to the upper bound. Defaults to `each`.'),
    max_count: amount.optional().describe('The maximum number that count. Unlimited by default.'),
  })
  .refine((factor) => (factor.max_each ?? Infinity) >= factor.each, {
    message: 'max_each must not be below each',
  });

const tokens = z.strictObject({
  tokens: z
    .union([pointer, z.literal('')])
    .describe(
      'The place of a part of the input, or "" for all of it. Its tokens are estimated as one per four bytes.',
    ),
  max: amount.describe(
    'The maximum number of tokens, which the provider never exceeds. It is the upper bound unless `unbounded_fields` allows a lower one.',
  ),
  unbounded_fields: z
    .array(
      z.union([
        z.string().min(1),
        z.strictObject({
          field: z.string().min(1).describe('The name of the field.'),
          types: z
            .array(z.string().min(1))
            .min(1)
            .describe('The field counts only beside a `type` with one of these values, or beside none.'),
        }),
      ]),
    )
    .optional()
    .describe(
      'Fields, at any depth and in any spelling, whose content may have more tokens than their text, such as links, ids of files and tools. If the input has none of them, the upper bound is one token per byte. `tools` and `functions` count as such fields only with a tool that is not in `caller_tools` of the provider. The likely cost counts those in `provider_tools` by their likely tokens.',
    ),
  above: amount
    .optional()
    .describe(
      'Makes the factor 1 if the part may have more tokens than this, otherwise 0. For surcharges that only a long input can reach.',
    ),
});

const absent = z.strictObject({
  absent: z
    .array(pointer)
    .min(1)
    .describe('Fields of the input. The factor is 1 if none of them has a value, otherwise 0.'),
});

export type UnboundedField = NonNullable<z.infer<typeof tokens>['unbounded_fields']>[number];

export const factor = z.union([number, table, characters, megapixels, present, absent, tokens]);
export type Factor = z.infer<typeof factor>;

/** The places in the input that a factor depends on. */
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

/** The key of a table that matches a value: the value itself, or else the first matching `wide*`. */
export function keyOf(
  { values }: { values: Readonly<Record<string, unknown>> },
  value: unknown,
): string | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  const text = String(value);
  if (Object.hasOwn(values, text)) return text;
  return Object.keys(values).find((key) => key.endsWith('*') && text.startsWith(key.slice(0, -1)));
}
