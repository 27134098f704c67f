import { z } from 'zod';
import { type Draft, fileBase, type Found, joinedSegments, shortened, type Source, today } from '../draft.js';
import { failureText, type SourceApi, SourceFailure } from '../source-api.js';

const positive = z.int().positive();

/** Servers name the length of the context differently. Only the fields that are used. */
const modelShape = z.object({
  id: z.string().min(1),
  type: z.string().nullish().catch(undefined),
  active: z.boolean().nullish().catch(undefined),
  max_model_len: positive.nullish().catch(undefined),
  context_window: positive.nullish().catch(undefined),
  context_length: positive.nullish().catch(undefined),
  max_context_length: positive.nullish().catch(undefined),
});
const listShape = z.union([
  z.object({ data: z.array(z.unknown()) }),
  z.array(z.unknown()).transform((data) => ({ data })),
]);

interface ServerOptions {
  /** The provider's name. */
  name: string;
  api: SourceApi;
  usdPerMillionInput: number;
  usdPerMillionOutput: number;
  /** The length of the context, in tokens, of models for which the server does not state it. */
  contextTokens: number | undefined;
  /** The price of an image in US cents; images are skipped without it. */
  imageCents: number | undefined;
}

type Kind = 'chat' | 'embedding' | 'image';

/** A millionth as a decimal number: a division would leave digits such as 1.0000000000000001e-7. */
const ofOne = (perMillion: number): number => Number(`${perMillion}e-6`);

/** A server with OpenAI's API: `GET /models`, chat completions, and embeddings or images by the kind of the model. */
export function openAiCompatibleSource(options: ServerOptions): Source {
  const { name: provider, api } = options;
  async function* listed(): AsyncGenerator<
    { name: string } & (z.infer<typeof modelShape> | { skipped: string })
  > {
    const { data } = listShape.safeParse(await api.get('/models'));
    if (data === undefined) throw new SourceFailure(`${api.base}/models did not return a list of models`);
    for (const [index, each] of data.data.entries()) {
      const { data: model } = modelShape.safeParse(each);
      yield model
        ? { name: model.id, ...model }
        : { name: `entry ${index + 1} of the list`, skipped: 'it has no id' };
    }
  }
  return {
    provider,
    hasPrices: false,
    nameOf: ({ constants }) => constants?.['model'] as string | undefined,
    async *drafts(names): AsyncGenerator<Found> {
      try {
        const seen = new Set<string>();
        if (!names) yield { name: provider, draft: declarationOf(provider, api.base) };
        for await (const { name, ...model } of listed()) {
          seen.add(name);
          if (names && !names.includes(name)) continue;
          yield { name, ...('skipped' in model ? model : draftOf(model, options)) };
        }
        for (const name of names ?? [])
          if (!seen.has(name)) yield { name, skipped: 'the source does not publish it' };
      } catch (error) {
        const skipped = failureText(error);
        for (const name of names ?? [`the models of ${provider}`]) yield { name, skipped };
      }
    },
    async *names() {
      for await (const { name, ...model } of listed()) {
        yield { name, ...('skipped' in model && { skipped: model.skipped }) };
      }
    },
  };
}

const declarationOf = (name: string, base: string): Draft => ({
  base: name,
  from: `${base}/models`,
  row: {
    provider: name,
    base,
    auth: { authorization: 'Bearer {secret}' },
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

const paths: Record<Kind, string> = {
  chat: 'chat/completions',
  embedding: 'embeddings',
  image: 'images/generations',
};

function kindOf({ id, type }: z.infer<typeof modelShape>): Kind | undefined {
  const told = type?.toLowerCase() ?? '';
  if (/whisper|tts|speech|audio|rerank|moderation|guard/.test(told || id.toLowerCase())) return undefined;
  if (/embed/.test(told || id.toLowerCase())) return 'embedding';
  if (told === 'image' || (told === '' && /dall-e|flux|stable-diffusion|sdxl|gpt-image/i.test(id)))
    return 'image';
  return 'chat';
}

function draftOf(
  model: z.infer<typeof modelShape>,
  options: ServerOptions,
): { draft: Draft } | { skipped: string } {
  const { name: provider, api, contextTokens, usdPerMillionInput, usdPerMillionOutput, imageCents } = options;
  const segment = joinedSegments(model.id);
  if (segment === undefined) return { skipped: 'its name does not form an id' };
  if (model.active === false) return { skipped: 'the server says that it is not active' };
  const kind = kindOf(model);
  if (kind === undefined) return { skipped: 'it is neither for chat, nor for embeddings, nor for images' };
  const context =
    model.max_model_len ??
    model.context_window ??
    model.context_length ??
    model.max_context_length ??
    contextTokens;
  if (kind !== 'image' && context === undefined) {
    return { skipped: 'the server does not state the length of its context: give --context-tokens' };
  }
  if (kind === 'image' && imageCents === undefined)
    return { skipped: 'its price is unknown: give --image-cents' };
  const id = `${provider}/${segment}`;
  const facts = { source: 'the operator’s price', date: today() };
  const read = {
    usd: ofOne(usdPerMillionInput),
    times: [{ tokens: '', max: context, unbounded_fields: unbounded }],
  };
  const reported = [{ path: '/usage/prompt_tokens', usd: ofOne(usdPerMillionInput) }];
  const row = {
    id,
    title: shortened(model.id, 100),
    modalities: { in: ['text'], out: [kind === 'image' ? 'image' : 'text'] },
    upstream: { path: paths[kind] },
    charges_on_policy_rejection: 'unknown',
    constants: { model: model.id },
  };
  const rows: Record<Kind, () => Record<string, unknown>> = {
    chat: () => ({
      ...row,
      price: {
        ...read,
        plus: [
          {
            usd: ofOne(usdPerMillionOutput),
            times: [
              {
                number: '/max_tokens',
                alternatives: [{ path: '/max_completion_tokens' }],
                default: 1000,
                max: Math.max(context ?? 0, 1000),
              },
              { number: '/n', default: 1 },
            ],
          },
        ],
        reported: [...reported, { path: '/usage/completion_tokens', usd: ofOne(usdPerMillionOutput) }],
        likely: { tokens: 8000, date: today() },
        ...facts,
      },
      input: chatInput,
      output: { media_type: 'application/json' },
      example: { messages: [{ role: 'user', content: 'Name three lighthouses.' }], max_tokens: 200 },
    }),
    embedding: () => ({
      ...row,
      price: { ...read, reported, ...facts },
      input: embeddingInput,
      output: { media_type: 'application/json' },
      example: { input: 'A lighthouse at dusk' },
    }),
    image: () => ({
      ...row,
      price: { usd: (imageCents ?? 0) / 100, times: [{ number: '/n', default: 1 }], ...facts },
      assets: ['/data/*/url'],
      input: imageInput,
      output: { media_type: 'application/json' },
      example: { prompt: 'A lighthouse at dusk' },
    }),
  };
  return {
    draft: {
      base: fileBase(id),
      from: `${api.base}/models#${encodeURIComponent(model.id)}`,
      row: rows[kind](),
    },
  };
}

const unbounded = ['image_url', 'video_url', 'input_audio', 'file', 'tools'];
const count = { type: 'integer', minimum: 1 };

const notStreamed = { const: false, description: 'Must be false: the result is returned in full.' };

const chatInput = {
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
    stream_options: { type: 'object', description: 'Options of the stream, such as include_usage.' },
  },
};

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
