import type { CallerTools } from '#providers';
import { pointerSegments, type ReportedTerm, valueAt, valuesAt, wholeMicros } from '#schemas';
import type { Model } from './model.js';
import { maxTokensOf } from './max-tokens.js';
import { type Factor, keyOf, pointersOf } from './price-factors.js';
import { asSpelledByRow } from './spelling.js';
import { isLeftOut, likelyTokens, toolCosts, usesProviderTools } from './tool-kinds.js';

/** The cost of a run, as known before it starts. Amounts are micro-dollars. */
export interface Quote {
  /** The upper bound. The billed amount is never higher. */
  upperMicros: number;
  /** The likely cost, if it is less than the upper bound: with an answer of likely length, where the input sets no limit. */
  likelyMicros?: number;
  /** The input asks for one answer and sets no limit on it, so its length says how long answers are. */
  isOpen?: true;
  /** The field that lowers the upper bound most directly: one that the input leaves open, or else one that it sets. */
  lowering?: { field: string; isSet: boolean };
  /** The input has a tool that runs at the provider, or one that nobody knows. */
  usesProviderTools?: true;
  /** The amount that is billed unless the reply reports the usage. */
  computedMicros: number;
  /** `flat` if the cost is independent of the input. */
  basis: 'flat' | 'computed';
  reported: ReportedTerm[];
}

/** Figures of a row that its finished runs show. They replace those that the row declares. Null if the runs are too few. */
export interface MeasuredAnswers {
  /** The number of tokens that 99 of 100 answers do not exceed if the input sets no limit. */
  likelyTokens: number | null;
  tokensPerSecond: number | null;
}

export function quote(model: Model, body: unknown, measured?: MeasuredAnswers): Quote {
  const { price } = model;
  const input = asSpelledByRow(model, body);
  const terms = [price, ...price.plus];
  const tokensOf = tokenCounts(model.callerTools, input);
  const tools = toolCosts(input, model.providerTools);
  const amounts = terms.map((term) => microsOf(term, input, tokensOf));
  const sumOf = (part: keyof Amount, more = 0) =>
    wholeMicros(amounts.reduce((sum, amount) => sum + amount[part], more));
  const computedMicros = sumOf('computed');
  // Sums with more than twelve digits are rounded, each on its own.
  const upperMicros = Math.max(sumOf('bound', tools.mostMicros), computedMicros);
  const likely = price.likely && (measured?.likelyTokens ?? price.likely.tokens);
  const likelyMicros =
    likely === undefined && tools.tokens === undefined
      ? undefined
      : likelyOf(
          likely ?? Infinity,
          terms,
          input,
          tools.tokens === undefined ? tokensOf : likelyCounts(model, input),
          tools.likelyMicros,
        );
  const lowering = loweringField(terms, input);
  const isOpen = likely !== undefined && lowering?.isSet === false && asksForOne(terms, input);
  return {
    upperMicros,
    ...(likelyMicros !== undefined && likelyMicros < upperMicros && { likelyMicros }),
    ...(isOpen && { isOpen }),
    ...(usesProviderTools(Object(input) as object, model.callerTools) && {
      usesProviderTools: true as const,
    }),
    ...(lowering && { lowering }),
    computedMicros,
    basis: terms.some((term) => term.times.length > 0) ? 'computed' : 'flat',
    reported: [
      ...price.reported.map(({ usd, times, ...place }) => {
        const { bound, computed } = microsOf({ usd, times }, input, tokensOf);
        // The reply reports the quantity, but not which of two settings applied.
        return { ...place, micros: times.some((factor) => isFlagged(factor, input)) ? bound : computed };
      }),
      ...tools.reported,
    ],
  };
}

/** The upper bound with `fees` if an open answer is not longer than this number of tokens. */
function likelyOf(
  likelyTokens: number,
  terms: readonly Term[],
  input: unknown,
  tokensOf: TokenCounts,
  fees: number,
): number {
  const amounts = terms.map(({ usd, times }) => {
    const limited = times.map((factor) =>
      'number' in factor && factor.max !== undefined
        ? { ...factor, max: Math.max(factor.default, Math.min(factor.max, likelyTokens)) }
        : factor,
    );
    return microsOf({ usd, times: limited }, input, tokensOf).bound;
  });
  return wholeMicros(amounts.reduce((sum, bound) => sum + bound, fees));
}

/** Whether every number that the row does not bound, such as that of answers, is one. */
const asksForOne = (terms: readonly Term[], input: unknown): boolean =>
  terms.every(({ times }) =>
    times.every(
      (factor) => !('number' in factor) || factor.max !== undefined || numberOf(factor, input).computed === 1,
    ),
  );

function loweringField(terms: readonly Term[], input: unknown): Quote['lowering'] {
  const numbers = terms.flatMap(({ times }) => times.filter((factor) => 'number' in factor));
  const isSet = (factor: (typeof numbers)[number]) => placesOf(factor).some((place) => isGiven(input, place));
  const open = numbers.find((factor) => (factor.max ?? 0) > factor.default && !isSet(factor));
  if (open) return { field: nameOf(open.number), isSet: false };
  const set = numbers.flatMap((factor) => placesOf(factor).find((place) => isGiven(input, place)) ?? []);
  return set[0] === undefined ? undefined : { field: nameOf(set[0]), isSet: true };
}

const placesOf = ({ number, alternatives }: Extract<Factor, { number: string }>): string[] => [
  number,
  ...alternatives.map(({ path }) => path),
];

const isGiven = (input: unknown, place: string): boolean =>
  valuesAt(input, place).some((value) => value !== null);

const nameOf = (place: string): string => pointerSegments(place).join('.');

type Term = { usd: number; times: Factor[] };

/**
 * A factor or an amount: its value in the upper bound, and its billed value. `bound` is never less than `computed`.
 */
interface Amount {
  bound: number;
  computed: number;
}

/**
 * The computed price of a streamed call by its parts, in micro-dollars, which may be fractions: that of its input and
 * that of one token of its answer.
 */
export interface StreamPrice {
  inputMicros: number;
  tokenMicros: number;
  /** How many tokens the model writes in a second, if its stream does not show all of them. */
  hiddenTokensPerSecond?: number;
  /** The price of the tokens that a call of a tool at the provider likely adds, and the places and fees of the calls in events. */
  tools?: { inputMicros: number; calls: ReportedTerm[] };
}

/** `maxTokens`: the places in the input that limit the tokens of the answer. */
export function streamPrice(
  model: Model,
  body: unknown,
  maxTokens: readonly string[],
  measured?: MeasuredAnswers,
): StreamPrice {
  const input = asSpelledByRow(model, body);
  const limits = (factor: Factor) => 'number' in factor && pointersOf(factor).some(isLimit);
  const tokensOf = likelyCounts(model, input);
  const isLimit = (place: string) => maxTokens.includes(place);
  const { tokens: toolTokens = 0, early: calls } = toolCosts(input, model.providerTools);
  let toolMicros = 0;
  const price: StreamPrice = {
    inputMicros: 0,
    tokenMicros: 0,
    ...(model.hidden_tokens && {
      hiddenTokensPerSecond: measured?.tokensPerSecond ?? model.hidden_tokens.per_second,
    }),
  };
  for (const { usd, times } of [model.price, ...model.price.plus]) {
    const limit = times.find(limits);
    // The text of all answers is counted, so the other numbers, such as that of answers, have been.
    const rest = limit ? times.filter((factor) => !('number' in factor)) : times;
    const { computed, bound } = microsOf({ usd, times: rest }, input, tokensOf);
    // Content that the input only refers to may have any size.
    const refersToContent = rest.some((factor) => isUnbounded(factor, tokensOf));
    if (!limit) price.inputMicros += refersToContent ? bound : computed;
    else price.tokenMicros += computed / ('number' in limit ? limit.per : 1);
    const readsTools = !limit && rest.some((factor) => 'tokens' in factor && factor.above === undefined);
    if (readsTools) toolMicros += microsOf({ usd, times: rest }, input, () => same(toolTokens)).computed;
  }
  return calls.length === 0 ? price : { ...price, tools: { inputMicros: toolMicros, calls } };
}

function microsOf({ usd, times }: Term, input: unknown, tokensOf: TokenCounts): Amount {
  const product = same(usd * 1_000_000);
  for (const factor of times) {
    const { bound, computed } = amountOf(factor, input, tokensOf);
    product.bound = finite(product.bound * bound);
    product.computed = finite(product.computed * computed);
  }
  return product;
}

// An input without a schema may contain any number. Without the cap, infinity times zero would be NaN.
const finite = (value: number): number => Math.min(value, 1e100);

function amountOf(factor: Factor, input: unknown, tokensOf: TokenCounts): Amount {
  if ('number' in factor) return numberOf(factor, input);
  if ('table' in factor) return tableValue(factor, input);
  if ('characters' in factor) {
    const texts = valuesAt(input, factor.characters).filter((value) => typeof value === 'string');
    const units = texts.reduce((sum, text) => sum + text.length, 0);
    const pairs = texts.reduce((sum, text) => sum + (text.match(surrogatePair)?.length ?? 0), 0);
    return { bound: (units * factor.max_each) / factor.per, computed: (units - pairs) / factor.per };
  }
  if ('megapixels' in factor) {
    const [width, height] = factor.megapixels.map((side) => positive(valueAt(input, side)));
    const pixels = finite((width ?? usualSide) * (height ?? usualSide));
    const billed = (value: number) => Math.max(0, Math.max(factor.min, value) - factor.minus);
    // A megapixel may be 2^20 pixels or a million. A million gives the upper bound.
    const bound = billed(Math.ceil(pixels / 1_000_000));
    if (width !== undefined && height !== undefined) {
      return { bound, computed: billed(Math.ceil(pixels / 2 ** 20)) };
    }
    const open = billed(factor.max ?? factor.default);
    const isOneGiven = width !== undefined || height !== undefined;
    return { bound: isOneGiven ? Math.max(open, bound) : open, computed: billed(factor.default) };
  }
  if ('present' in factor) {
    const there = factor.present.reduce((sum, member) => sum + countAt(input, member), 0);
    const count = Math.min(there, factor.max_count ?? Infinity);
    return { bound: count * (factor.max_each ?? factor.each), computed: count * factor.each };
  }
  if ('absent' in factor) return same(Number(factor.absent.every((member) => countAt(input, member) === 0)));
  const { max, above } = factor;
  const { bound, computed } = tokensOf(factor);
  return above === undefined
    ? { bound: Math.min(max, bound), computed: Math.min(max, computed) }
    : { bound: Number(bound > above), computed: Number(computed > above) };
}

type TokenCounts = (factor: Extract<Factor, { tokens: string }>) => Amount;

/** Counts each part of the input once, because several terms depend on it and it may be long. */
function tokenCounts(callerTools: CallerTools | undefined, input: unknown): TokenCounts {
  const known = new Map<string, Amount>();
  return ({ tokens: place, unbounded_fields: unbounded }) => {
    const key = `${place} ${JSON.stringify(unbounded)}`;
    let counted = known.get(key);
    if (counted === undefined) {
      const part = valueAt(input, place);
      counted = { bound: maxTokensOf(part, unbounded, callerTools), computed: lengthOf(part) / 4 };
      known.set(key, counted);
    }
    return counted;
  };
}

/** The same if the tools that run at the provider add what they usually do. */
const likelyCounts = ({ callerTools, providerTools }: Model, input: unknown): TokenCounts =>
  tokenCounts({ ...callerTools, ...likelyTokens(providerTools) }, input);

const isUnbounded = (factor: Factor, tokensOf: TokenCounts): boolean =>
  'tokens' in factor && factor.unbounded_fields !== undefined && tokensOf(factor).bound === Infinity;

/** The usual default width and height, in pixels. */
const usualSide = 1024;

const surrogatePair = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

const same = (value: number): Amount => ({ bound: value, computed: value });

function numberOf(factor: Extract<Factor, { number: string }>, input: unknown): Amount {
  const { max = factor.default, min } = factor;
  const given = [{ path: factor.number, per: 1 }, ...factor.alternatives].flatMap(({ path, per }) => {
    const values = valuesAt(input, path).filter((value) => value !== null);
    if (values.length === 0) return [];
    const numbers = values.map(positive);
    const sum = numbers.reduce((one = NaN, other = NaN) => one + other, 0) ?? NaN;
    return [finite(sum) / per];
  });
  const readable = given.filter((value) => !Number.isNaN(value)).map((value) => Math.max(min, value));
  // A value that is not a positive number leaves the choice to the provider, like a missing one.
  const isOpen = readable.length === 0 || readable.length < given.length || isFlagged(factor, input);
  const units = (value: number) => Math.max(0, value / factor.per - factor.minus);
  return {
    bound: units(Math.max(...readable, ...(isOpen ? [max] : []))),
    computed: units(readable.length === 0 ? factor.default : Math.max(...readable)),
  };
}

/** Whether a text of the input contains an option that also sets the factor. */
function isFlagged(factor: Factor, input: unknown): boolean {
  if (!('flags' in factor) || !factor.flags) return false;
  const { path, names } = factor.flags;
  const texts = valuesAt(input, path).filter((value) => typeof value === 'string');
  const options = texts.filter((text) => text.includes('--')).map((text) => text.toLowerCase());
  return options.some((text) => names.some((name) => text.includes(`--${name}`)));
}

/** The positive number that a value is, or that its text represents. */
function positive(value: unknown): number | undefined {
  // Some providers parse texts leniently: " 10", "+9", "1e1".
  const number =
    typeof value === 'string' && /^\+?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?\s*s?$/i.test(value.trim())
      ? Number.parseFloat(value)
      : value;
  return typeof number === 'number' && number > 0 ? finite(number) : undefined;
}

function tableValue(factor: Extract<Factor, { table: string }>, input: unknown): Amount {
  const { values } = factor;
  // An unknown value must not be cheaper than a known one.
  const dearest = Math.max(0, ...Object.values(values));
  const given = [factor.table, ...factor.alternatives].flatMap((path) => valueAt(input, path) ?? []);
  const known = (given.length === 0 ? [factor.default] : given).map((value) => {
    const key = keyOf(factor, value);
    return key === undefined ? dearest : (values[key] ?? 0);
  });
  const computed = Math.max(...known);
  return { bound: isFlagged(factor, input) ? dearest : computed, computed };
}

const countAt = (input: unknown, member: string): number =>
  valuesAt(input, member)
    .map((value) => (Array.isArray(value) ? value.length : isLeftOut(value) ? 0 : 1))
    .reduce((sum, count) => sum + count, 0);

/** The total length of all texts in a value, in bytes. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + lengthOf(member), 0);
}
