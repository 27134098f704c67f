import { liveHosts, type Host, type ServedModel } from './served-model.js';

/** Prices of one token, in US dollars. */
interface Rates {
  input: number;
  output: number;
  /** Input tokens that are read from a cache. Without it, they cost as much as others. */
  cacheRead?: number | undefined;
  /** Input tokens that are written to a cache. */
  cacheWrite?: number | undefined;
}

/** The price of a model whose answers report their tokens. */
export interface TokenPrice extends Rates {
  /** Rates for answers to an input of more tokens, from the smallest number. */
  longer: (Rates & { above: number })[];
  /** Fields of the input with a price of their own, which the row rejects. */
  refused: string[];
  /** The server of a router that has this price. */
  host?: Host;
}

/** Why there is no price. */
interface Unpriced {
  problem: string;
}

/** The largest price of a token that a list plausibly states: a thousand dollars per million. */
const maxRate = 0.001;

type Read = (value: unknown) => number | undefined;

/** Texts are dollars per token. A number in the same place has no agreed unit. */
const perToken: Read = (value) =>
  typeof value === 'string' && /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : undefined;

/** Numbers are dollars per million tokens. */
const perMillion: Read = (value) => (typeof value === 'number' ? ofMillion(value) : undefined);

/** A millionth as a decimal number: a division would leave digits such as 1.0000000000000001e-7. */
export const ofMillion = (amount: number): number => Number(`${amount}e-6`);

interface Form {
  read: Read;
  input: string;
  output: string;
  cacheRead: string;
  cacheWrite: string;
  /** Other members that do not change the price of a token. */
  ignored: readonly string[];
}

const form = (read: Read, input: string, output: string, more: Partial<Form>): Form => ({
  read,
  input,
  output,
  cacheRead: 'input_cache_read',
  cacheWrite: 'input_cache_write',
  ignored: [],
  ...more,
});

/** The forms of `pricing`, told apart by the names and types of its members. */
const forms: readonly Form[] = [
  // OpenRouter and Cerebras.
  form(perToken, 'prompt', 'completion', { ignored: ['discount'] }),
  // Vercel.
  form(perToken, 'input', 'output', {}),
  // Together and Hugging Face. The hourly price is that of an endpoint of one’s own.
  form(perMillion, 'input', 'output', {
    cacheRead: 'cached_input',
    ignored: ['hourly', 'base', 'finetune'],
  }),
  // DeepInfra.
  form(perMillion, 'input_tokens', 'output_tokens', { cacheRead: 'cache_read_tokens' }),
];

/** The published price of a token. Undefined if the server publishes none. */
export function publishedPrice(model: ServedModel): TokenPrice | Unpriced | undefined {
  const hosts = liveHosts(model);
  if (hosts !== undefined) return cheapest(hosts);
  const pricing = model.pricing ?? model.metadata?.pricing;
  return pricing ? priceIn(pricing) : undefined;
}

/** The published price of an image, in US dollars. Undefined if there is none, or if it depends on the size or quality. */
export function publishedImagePrice({ pricing }: ServedModel): number | undefined {
  const names = Object.keys(pricing ?? {}).filter((name) => name.includes('image'));
  const usd = perToken(pricing?.['image']);
  return names.length === 1 && usd !== undefined && usd > 0 ? usd : undefined;
}

/** A router bills the price of the server that it chooses, so the row names one. */
function cheapest(hosts: readonly Host[]): TokenPrice | undefined {
  const priced = hosts.flatMap((host) => {
    const price = host.pricing && host.context_length ? priceIn(host.pricing) : undefined;
    return price === undefined || 'problem' in price ? [] : [{ ...price, host }];
  });
  return priced.sort((one, other) => one.input + one.output - (other.input + other.output))[0];
}

function priceIn(pricing: Readonly<Record<string, unknown>>): TokenPrice | Unpriced | undefined {
  const found = forms.find(({ read, input }) => read(pricing[input]) !== undefined);
  if (found === undefined) return undefined;
  const { read, input, output, cacheRead, cacheWrite } = found;
  const rates: Rates = {
    input: read(pricing[input]) ?? 0,
    output: read(pricing[output]) ?? 0,
    // A price of 0 means that there is none.
    cacheRead: read(pricing[cacheRead]) || undefined,
    cacheWrite: read(pricing[cacheWrite]) || undefined,
  };
  const amounts = Object.values(rates).filter((each) => each !== undefined);
  if (amounts.some((each) => each < 0)) return { problem: 'its price depends on the request' };
  if (amounts.some((each) => each > maxRate)) return { problem: 'its published price is implausibly high' };
  if (rates.input === 0 && rates.output === 0) return { problem: 'its published price is 0' };
  const longer = longerRates(found, pricing, rates);
  const refused = refusedFields(pricing);
  const others = otherPrices(found, pricing, rates);
  if (others.length > 0) {
    return { problem: `it also has prices for ${others.join(', ')}, which a row cannot bill` };
  }
  return { ...rates, longer, refused };
}

/** Vercel’s tiers: lists of a cost and the number of input tokens from which it counts. */
function longerRates(
  { read, input, output, cacheRead, cacheWrite }: Form,
  pricing: Readonly<Record<string, unknown>>,
  base: Rates,
): TokenPrice['longer'] {
  const tiersOf = (name: string) => tiersIn(pricing[`${name}_tiers`], read);
  const [inputs, outputs, reads, writes] = [input, output, cacheRead, cacheWrite].map(tiersOf);
  const starts = [...new Set([inputs, outputs].flatMap((tiers) => [...(tiers?.keys() ?? [])]))];
  return starts
    .filter((from) => from > 0)
    .sort((one, other) => one - other)
    .map((from) => ({
      above: from - 1,
      input: rateFrom(inputs, from, base.input),
      output: rateFrom(outputs, from, base.output),
      cacheRead: base.cacheRead && rateFrom(reads, from, base.cacheRead),
      cacheWrite: base.cacheWrite && rateFrom(writes, from, base.cacheWrite),
    }));
}

const rateFrom = (tiers: ReadonlyMap<number, number> | undefined, from: number, usual: number): number =>
  [...(tiers ?? [])].filter(([start]) => start <= from).at(-1)?.[1] ?? usual;

/** The costs by the number of tokens from which they count, in order. */
function tiersIn(tiers: unknown, read: Read): Map<number, number> {
  const found = (Array.isArray(tiers) ? tiers : []).flatMap((tier: unknown) => {
    const { cost, min = 0 } = Object(tier) as { cost?: unknown; min?: unknown };
    const rate = read(cost);
    return rate === undefined || typeof min !== 'number' ? [] : [[min, rate] as const];
  });
  return new Map(found.sort(([one], [other]) => one - other));
}

/** Prices of what callers request by a field, so that the row can reject the field. */
const fieldsByPrice: Readonly<Record<string, readonly string[]>> = {
  web_search: ['web_search_options', 'plugins'],
  service_tiers: ['service_tier'],
};

const refusedFields = (pricing: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(fieldsByPrice).flatMap(([name, fields]) => (isCharged(pricing[name]) ? fields : []));

/** The members that price something else than tokens, or some tokens higher than the row would. */
function otherPrices(
  { read, input, output, cacheRead, cacheWrite, ignored }: Form,
  pricing: Readonly<Record<string, unknown>>,
  rates: Rates,
): string[] {
  const known = new Set([input, output, cacheRead, cacheWrite, ...ignored, ...Object.keys(fieldsByPrice)]);
  const limits: Readonly<Record<string, number>> = {
    internal_reasoning: rates.output,
    reasoning: rates.output,
  };
  return Object.keys(pricing).filter((name) => {
    if (known.has(name) || name.endsWith('_tiers') || !isCharged(pricing[name])) return false;
    const rate = read(pricing[name]);
    return rate === undefined || rate > (limits[name] ?? rates.input);
  });
}

const isCharged = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  Number(value) !== 0 &&
  !(Array.isArray(value) && value.length === 0);
