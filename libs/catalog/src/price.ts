import { type ReportedTerm, valueAt, valuesAt, wholeMicros } from '#schemas';
import { z } from 'zod';

const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /num_images');
const amount = z.number().min(0);
const most = 'What the upper bound takes in its place; without it, the default.';
const minus = amount.default(0).describe('Units that the amount before already covers.');

const number = z
  .strictObject({
    number: pointer.describe('A number of the input, or a text such as "5" or "5s".'),
    default: amount.default(1).describe('What the partner assumes when the caller names no positive number.'),
    most: amount.optional().describe(most),
    per: z
      .number()
      .positive()
      .default(1)
      .describe('How many of them make one unit: 60 for a price a minute.'),
    minus,
  })
  .refine((factor) => (factor.most ?? Infinity) >= factor.default, { message: 'most is not below default' });

const table = z
  .strictObject({
    table: pointer.describe('A text, number or boolean of the input.'),
    values: z
      .record(z.string(), amount)
      .describe(
        'The factor of each value. `wide*` is any value that begins so, `*` any other; the first that fits counts.',
      ),
    default: z
      .union([z.string(), z.number(), z.boolean()])
      .optional()
      .describe(
        'The value that the partner assumes; without it, and for a value that no key fits, the dearest counts.',
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
    .describe('As how many the upper bound counts each: 2 where a partner counts some twice.'),
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
      .array(pointer)
      .min(1)
      .describe(
        'Members of the input: each that is there counts, and of a list each element; null, false and "" do not.',
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
  most: amount.describe('What the upper bound takes: a token count that the partner does not exceed.'),
  references: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Names of members, at any depth, that stand for more than their own text: links, ids of files, tools. Of a part without any of them no more is taken than a token a byte.',
    ),
});

const factor = z.union([number, table, characters, megapixels, present, tokens]);
export type Factor = z.infer<typeof factor>;

const usd = amount.describe('Dollars, times every factor.');
const times = z.array(factor).default([]).describe('Factors over the input.');
const unitUsd = amount.describe('Dollars a unit, times every factor.');
const optional = z.boolean().optional().describe('Nothing is added where the reply does not have it.');

const reportedTerm = z.union([
  z.strictObject({
    at: pointer.describe('Where the reply has the number, a text such as "12.5" included; `*` adds up.'),
    only: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Only of objects that hold these values beside it.'),
    minus: pointer.optional().describe('Where it has a part of the number that another term bills.'),
    when: z
      .strictObject({
        at: pointer.describe('A number of the reply.'),
        above: amount.optional().describe('It is larger.'),
        up_to: amount.optional().describe('It is no larger.'),
      })
      .optional()
      .describe('Else nothing is added: some partners charge more a token where there are many.'),
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

/** What a run is known to cost before it is made. Amounts are micro-dollars. */
export interface Quote {
  /** Reserved at admission: what is billed is never more. */
  upperMicros: number;
  /** Billed unless a reply tells what was used. */
  computedMicros: number;
  /** `flat` when the input has no part in it. */
  basis: 'flat' | 'computed';
  reported: ReportedTerm[];
}

/** A factor, or an amount: what the upper bound takes, and what is billed. The first is never less than the second. */
interface Amount {
  bound: number;
  computed: number;
}

export function quote({ price }: { price: Price }, input: unknown): Quote {
  const terms = [price, ...price.plus];
  const amounts = terms.map((term) => microsOf(term, input));
  return {
    upperMicros: wholeMicros(amounts.reduce((sum, { bound }) => sum + bound, 0)),
    computedMicros: wholeMicros(amounts.reduce((sum, { computed }) => sum + computed, 0)),
    basis: terms.some((term) => term.times.length > 0) ? 'computed' : 'flat',
    reported: price.reported.map(({ usd, times, ...place }) => ({
      ...place,
      micros: microsOf({ usd, times }, input).computed,
    })),
  };
}

/** The inputs that a price reads. */
export const pricePointers = (price: Price): string[] =>
  [price, ...price.plus, ...price.reported].flatMap(({ times }) => times).flatMap(pointersOf);

function pointersOf(factor: Factor): string[] {
  if ('present' in factor) return factor.present;
  if ('megapixels' in factor) return factor.megapixels;
  if ('number' in factor) return [factor.number];
  if ('table' in factor) return [factor.table];
  return ['tokens' in factor ? factor.tokens : factor.characters];
}

const microsOf = ({ usd, times }: { usd: number; times: Factor[] }, input: unknown): Amount =>
  times
    .map((factor) => amountOf(factor, input))
    .reduce(
      (product, { bound, computed }) => ({
        bound: finite(product.bound * bound),
        computed: finite(product.computed * computed),
      }),
      { bound: usd * 1_000_000, computed: usd * 1_000_000 },
    );

// An input without a schema may hold any number; the cap keeps a zero beside it a zero.
const finite = (value: number): number => Math.min(value, 1e100);

function amountOf(factor: Factor, input: unknown): Amount {
  if ('number' in factor) {
    const given = positive(valueAt(input, factor.number));
    const units = (value: number) => Math.max(0, value / factor.per - factor.minus);
    return { bound: units(given ?? factor.most ?? factor.default), computed: units(given ?? factor.default) };
  }
  if ('table' in factor) return same(tableValue(factor, valueAt(input, factor.table)));
  if ('characters' in factor) {
    const texts = valuesAt(input, factor.characters).filter((value) => typeof value === 'string');
    const units = texts.reduce((sum, text) => sum + text.length, 0);
    const pairs = texts.reduce((sum, text) => sum + (text.match(surrogatePair)?.length ?? 0), 0);
    return { bound: (units * factor.most) / factor.per, computed: (units - pairs) / factor.per };
  }
  if ('megapixels' in factor) {
    const [width, height] = factor.megapixels.map((side) => positive(valueAt(input, side)));
    const pixels = width === undefined || height === undefined ? undefined : finite(width * height);
    const billed = (value: number) => Math.max(0, Math.max(factor.min, value) - factor.minus);
    // Partners mean 2^20 pixels by it, or a million: the smaller gives the bound.
    return pixels === undefined
      ? { bound: billed(factor.most ?? factor.default), computed: billed(factor.default) }
      : { bound: billed(Math.ceil(pixels / 1_000_000)), computed: billed(Math.ceil(pixels / 2 ** 20)) };
  }
  if ('present' in factor) {
    const there = factor.present.reduce((sum, member) => sum + countAt(input, member), 0);
    const count = Math.min(there, factor.at_most ?? Infinity);
    return { bound: count * (factor.most ?? factor.each), computed: count * factor.each };
  }
  const part = valueAt(input, factor.tokens);
  const { references, most: bound } = factor;
  const fewer = references && addedTokens + bytesOf(part, new Set(references));
  return {
    bound: Math.min(bound, fewer ?? bound),
    computed: Math.min(bound, lengthOf(part) / 4),
  };
}

const surrogatePair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

const same = (value: number): Amount => ({ bound: value, computed: value });

/** The positive number that a value is or writes. */
function positive(value: unknown): number | undefined {
  const number =
    typeof value === 'string' && /^\d+(\.\d+)?s?$/.test(value) ? Number.parseFloat(value) : value;
  return typeof number === 'number' && number > 0 ? finite(number) : undefined;
}

function tableValue(factor: z.infer<typeof table>, given: unknown): number {
  const { values } = factor;
  const key = keyOf(factor, given ?? factor.default);
  // A value that the table does not know must not be cheaper than one it knows.
  return key === undefined ? Math.max(0, ...Object.values(values)) : (values[key] ?? 0);
}

function keyOf({ values }: { values: Record<string, number> }, value: unknown): string | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined;
  const text = String(value);
  if (Object.hasOwn(values, text)) return text;
  return Object.keys(values).find((key) => key.endsWith('*') && text.startsWith(key.slice(0, -1)));
}

const countAt = (input: unknown, member: string): number =>
  valuesAt(input, member)
    .map((value) => (Array.isArray(value) ? value.length : isLeftOut(value) ? 0 : 1))
    .reduce((sum, count) => sum + count, 0);

const isLeftOut = (value: unknown): boolean => value === null || value === false || value === '';

/** What partners put around a text: turns, roles, a system prompt of their own. */
const addedTokens = 1000;

/** How many bytes a value has at least as JSON: no text has more tokens. Infinite where it refers to something else. */
function bytesOf(value: unknown, references: ReadonlySet<string>): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return String(value).length;
  return Object.entries(value).reduce(
    (sum, [name, member]) =>
      sum +
      (references.has(name) && !isLeftOut(member) ? Infinity : name.length + 4 + bytesOf(member, references)),
    0,
  );
}

/** The length of all texts in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + lengthOf(member), 0);
}
