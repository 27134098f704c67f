import { type Draft, shortened, today } from '../../draft.js';
import { knownServers, readOn } from './known-servers.js';
import { type ServedKind, servedKinds } from './served-kind.js';
import type { TokenPrice } from './served-price.js';

/** Facts of a row, whatever its kind. */
export interface ServedRow {
  id: string;
  title: string;
  description: string | undefined;
  /** The kinds of content that it reads. */
  reads: readonly string[];
  /** The name by which the server knows the model. */
  model: string;
  ends: string | undefined;
  successor: string | undefined;
}

export const declarationOf = (name: string, base: string): Draft => ({
  base: name,
  from: `${base}/models`,
  row: {
    provider: name,
    base,
    auth: { authorization: 'Bearer {secret}' },
    ...checkOf(name, base),
    submit: { url: '{base}/{upstream.path}', encode: { force_false: ['stream'] }, timeout_seconds: 540 },
    caller_tools: { function: 0 },
    stream: {
      member: 'stream',
      include_usage: true,
      max_tokens: ['/max_tokens', '/max_completion_tokens'],
      fold: [{}],
      names: { delta: 'message' },
      text: [
        '/choices/*/delta/content',
        ['/choices/*/delta/reasoning', '/choices/*/delta/reasoning_content'],
        '/choices/*/delta/refusal',
        '/choices/*/delta/tool_calls/*/function/arguments',
      ],
      end: '[DONE]',
      error_when: { path: '/error' },
    },
    result_paths: ['/choices/*/message', '/data/*'],
    rejections: { msg: '/error/message', type: ['/error/type', '/error/code'], field: '/error/param' },
    rules: [
      { path: '/error/code', equals: 'content_policy_violation', class: 'content_policy' },
      { path: '/error/code', equals: 'content_filter', class: 'content_policy' },
    ],
  },
});

/** The documented call that proves a key, unless the operator names another address. */
function checkOf(name: string, base: string): { check?: object } {
  const known = knownServers[name];
  if (known?.base !== base || known.check === undefined) return {};
  const { path, source } = known.check;
  return { check: { url: `{base}/${path}`, source, date: readOn } };
}

/** The path of each kind below the base URL. */
const paths: Readonly<Record<ServedKind, string>> = {
  chat: 'chat/completions',
  embedding: 'embeddings',
  image: 'images/generations',
};

/** The kind of a row of an import, by its path. */
export const kindOfPath = (path: string): ServedKind | undefined =>
  servedKinds.find((kind) => paths[kind] === path);

const common = (row: ServedRow, kind: ServedKind): Record<string, unknown> => ({
  id: row.id,
  title: shortened(row.title, 100),
  description: shortened(row.description, 300),
  modalities: { in: row.reads, out: [kind === 'chat' ? 'text' : kind] },
  ends: row.ends,
  successor: row.successor,
  upstream: { path: paths[kind] },
  charges_on_policy_rejection: 'unknown',
  constants: { model: row.model },
});

/** A chat model: the input and the answer are billed by the tokens that the reply reports. */
export function chatRow(
  row: ServedRow,
  context: number,
  price: TokenPrice,
  source: string,
): Record<string, unknown> {
  const read = readTokens(context);
  const written = {
    number: '/max_tokens',
    alternatives: [{ path: '/max_completion_tokens' }],
    default: 1000,
    max: Math.max(context, 1000),
  };
  const answers = { number: '/n', default: 1 };
  const bands = price.longer.map((band, index) => {
    const before = price.longer[index - 1] ?? price;
    const rise = (name: 'input' | 'output' | 'cacheRead') => difference(band[name], before[name]);
    return { rise, above: band.above, hasCache: band.cacheRead !== undefined };
  });
  return {
    ...common(row, 'chat'),
    price: {
      usd: price.input,
      times: [read],
      plus: [
        { usd: price.output, times: [written, answers] },
        ...charged({ usd: difference(price.cacheWrite, price.input), times: [read, onlyInBound] }),
        ...bands.flatMap(({ rise, above }) => {
          const ifLong = [onlyInBound, { ...read, above }];
          return [
            ...charged({ usd: rise('input'), times: [read, ...ifLong] }),
            ...charged({ usd: rise('output'), times: [written, answers, ...ifLong] }),
          ];
        }),
      ],
      reported: [
        { ...inputTokens(price.cacheRead !== undefined), usd: price.input },
        { ...outputTokens, usd: price.output },
        ...charged({ ...readFromCache, usd: price.cacheRead ?? 0 }),
        ...charged({ ...writtenToCache, usd: difference(price.cacheWrite, price.input) }),
        ...bands.flatMap(({ rise, above, hasCache }) => {
          const when = { path: inputTokens(false).path, above };
          return [
            ...charged({ ...inputTokens(hasCache), when, usd: rise('input') }),
            ...charged({ ...outputTokens, when, usd: rise('output') }),
            ...charged({ ...readFromCache, when, usd: rise('cacheRead') }),
          ];
        }),
      ],
      likely: { tokens: 8000, date: today() },
      source,
      date: today(),
    },
    input: chatInput(price.refused),
    output: { media_type: 'application/json' },
    example: { messages: [{ role: 'user', content: 'Name three lighthouses.' }], max_tokens: 200 },
  };
}

export const embeddingRow = (
  row: ServedRow,
  context: number,
  usd: number,
  source: string,
): Record<string, unknown> => ({
  ...common(row, 'embedding'),
  price: {
    usd,
    times: [readTokens(context)],
    reported: [{ ...inputTokens(false), usd }],
    source,
    date: today(),
  },
  input: embeddingInput,
  output: { media_type: 'application/json' },
  example: { input: 'A lighthouse at dusk' },
});

export const imageRow = (row: ServedRow, usd: number, source: string): Record<string, unknown> => ({
  ...common(row, 'image'),
  price: { usd, times: [{ number: '/n', default: 1 }], source, date: today() },
  assets: ['/data/*/url'],
  input: imageInput,
  output: { media_type: 'application/json' },
  example: { prompt: 'A lighthouse at dusk' },
});

const readTokens = (context: number) => ({
  tokens: '',
  max: context,
  unbounded_fields: ['image_url', 'video_url', 'input_audio', 'file', 'tools'],
});

/** A factor that counts in the upper bound only. */
const onlyInBound = { present: [''], each: 0, max_each: 1, max_count: 1 };

const inputTokens = (hasCache: boolean) => ({
  path: '/usage/prompt_tokens',
  ...(hasCache && { minus: readFromCache.path }),
});
const outputTokens = { path: '/usage/completion_tokens' };
const readFromCache = { path: '/usage/prompt_tokens_details/cached_tokens', optional: true };
const writtenToCache = { path: '/usage/prompt_tokens_details/cache_write_tokens', optional: true };

/** The term, unless it costs nothing. */
const charged = <Term extends { usd: number }>(term: Term): Term[] => (term.usd > 0 ? [term] : []);

/** How much more the first rate is, without the digits that a binary subtraction leaves. */
const difference = (rate: number | undefined, before: number | undefined): number =>
  rate === undefined || before === undefined ? 0 : Number(Math.max(0, rate - before).toPrecision(12));

const count = { type: 'integer', minimum: 1 };

const notStreamed = { const: false, description: 'Must be false: the result is returned in full.' };

/** The schema of chat completions, in which these fields are rejected. */
const chatInput = (refused: readonly string[]) => ({
  type: 'object',
  required: ['messages'],
  properties: {
    messages: {
      type: 'array',
      minItems: 1,
      description: 'The conversation so far.',
      items: {
        type: 'object',
        required: ['role'],
        properties: { role: { type: 'string', description: 'The author of the message.' } },
      },
    },
    max_tokens: { ...count, description: 'The maximum number of tokens of the answer.' },
    max_completion_tokens: { ...count, description: 'The maximum number of tokens of the answer.' },
    n: { ...count, description: 'The number of answers.' },
    temperature: { type: 'number', minimum: 0, description: 'The randomness of the answer.' },
    stream: {
      type: 'boolean',
      description: 'Return the answer as server-sent events while it is written.',
    },
    // Other tools run at the server, for a fee that its list does not show.
    tools: {
      type: 'array',
      description: 'The functions that the model may call.',
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: ['function'], description: 'The kind of tool.' } },
      },
    },
    stream_options: { type: 'object', description: 'Options of the stream, such as include_usage.' },
    ...Object.fromEntries(
      refused.map((name) => [name, { type: 'null', description: 'Not available: it has a separate price.' }]),
    ),
  },
});

const embeddingInput = {
  type: 'object',
  required: ['input'],
  properties: {
    input: {
      anyOf: [{ type: 'string' }, { type: 'array', items: {} }],
      description: 'The text, or several texts.',
    },
    stream: notStreamed,
  },
};

const imageInput = {
  type: 'object',
  required: ['prompt'],
  properties: {
    prompt: { type: 'string', description: 'A description of the image.' },
    n: { ...count, description: 'The number of images.' },
    size: { type: 'string', description: 'The width and height in pixels.' },
    stream: notStreamed,
  },
};
