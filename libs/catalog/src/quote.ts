import { type ReportedTerm, valueAt, valuesAt, wholeMicros } from '#schemas';
import type { Price } from './price.js';
import { type Factor, keyOf } from './price-factors.js';

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

/** A factor, or an amount: what the upper bound takes, and what is billed. The first is never less than the second. */
interface Amount {
  bound: number;
  computed: number;
}

function microsOf({ usd, times }: { usd: number; times: Factor[] }, input: unknown): Amount {
  const product = same(usd * 1_000_000);
  for (const factor of times) {
    const { bound, computed } = amountOf(factor, input);
    product.bound = finite(product.bound * bound);
    product.computed = finite(product.computed * computed);
  }
  return product;
}

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
  if ('absent' in factor) return same(Number(factor.absent.every((member) => countAt(input, member) === 0)));
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

function tableValue(factor: Extract<Factor, { table: string }>, given: unknown): number {
  const { values } = factor;
  const key = keyOf(factor, given ?? factor.default);
  // A value that the table does not know must not be cheaper than one it knows.
  return key === undefined ? Math.max(0, ...Object.values(values)) : (values[key] ?? 0);
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
