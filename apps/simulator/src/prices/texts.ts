import { type Bill, flat, type Order, type PriceList } from './order.js';

/** Prices of text models in dollars per million tokens. */
interface Rates {
  input: number;
  output: number;
  /** The most tokens that the model reads and writes. */
  reads: number;
  writes: number;
  /** Higher prices for everything if the input has more than `above` tokens. */
  long?: { above: number; input: number; output: number };
  /** How much more a token costs that is written to the cache, by the time for which it is kept. */
  kept?: Readonly<Record<string, number>>;
}

const million = 1_000_000;

const tokensOf = (order: Order, rates: Rates, leading: readonly string[], written: number, factor = 1) => {
  const read = order.tokens(rates.reads, leading);
  const isLong = rates.long !== undefined && read > rates.long.above;
  const input = isLong ? (rates.long?.input ?? 0) : rates.input;
  const output = isLong ? (rates.long?.output ?? 0) : rates.output;
  return (read * input * factor + written * output) / million;
};

const claude =
  (
    input: number,
    output: number,
    {
      reads = million,
      located = true,
      long,
    }: { reads?: number; located?: boolean; long?: Rates['long'] } = {},
  ): Bill =>
  (order) => {
    const written = order.units('/max_tokens', { usual: 1 });
    const marks = [
      '/cache_control',
      '/system/*/cache_control',
      '/tools/*/cache_control',
      '/messages/*/content/*/cache_control',
      '/messages/*/content/*/content/*/cache_control',
    ];
    // Tokens written to the cache for an hour cost twice as much, for five minutes a quarter more.
    const isCached = order.has(...marks);
    const isLong = order.has(...marks.map((mark) => `${mark}/ttl`));
    const read = isLong ? 2 : isCached ? 1.25 : 1;
    const place = located ? order.choice('/inference_geo', { global: 1, us: 1.1 }, 'global') : 1;
    const leading = ['source', 'tools', 'mcp_servers', 'container'];
    const rates = { input, output, reads, writes: 0, ...(long && { long }) };
    return place * tokensOf(order, rates, leading, written, read);
  };

const referring = [
  'image_url',
  'video_url',
  'file_id',
  'file_url',
  'file_data',
  'tools',
  'previous_response_id',
];

/** OpenAI writes the input to its cache unless it is there already. */
const cacheFactor = (order: Order, { kept }: Rates) =>
  kept ? order.choice('/prompt_cache_options/ttl', kept, '30m') : 1;

const responses =
  (rates: Rates): Bill =>
  (order) => {
    const written = order.units('/max_output_tokens', { usual: rates.writes, most: rates.writes });
    return tokensOf(order, rates, referring, written, cacheFactor(order, rates));
  };

/** The bill of a model by Chat Completions: the same tokens at the same rates, for several answers to one question. */
const chat =
  (rates: Rates): Bill =>
  (order) => {
    const places = [
      ['/max_completion_tokens', 1],
      ['/max_tokens', 1],
    ] as const;
    const each = order.units(places, { usual: rates.writes, most: rates.writes });
    const leading = ['image_url', 'input_audio', 'audio', 'file', 'tools', 'functions'];
    const written = each * order.units('/n', { usual: 1 });
    return tokensOf(order, rates, leading, written, cacheFactor(order, rates));
  };

const gpt = (input: number, output: number, reads: number, writes: number): Rates => ({
  input,
  output,
  reads,
  writes,
});

/** Above 272,000 tokens, input costs twice as much and output 1.5 times as much. */
const gptLong = (input: number, output: number): Rates => {
  const long = { above: 272_000, input: input * 2, output: output * 1.5 };
  return { input, output, reads: 1_050_000, writes: 128_000, long };
};

const gptCached = (input: number, output: number): Rates => ({
  ...gptLong(input, output),
  kept: { '30m': 1.25, '12h': 2.5 },
});

const gptRates = {
  'openai/gpt-4.1': gpt(2, 8, 1_047_576, 32_768),
  'openai/gpt-4.1-mini': gpt(0.4, 1.6, 1_047_576, 32_768),
  'openai/gpt-4.1-nano': gpt(0.1, 0.4, 1_047_576, 32_768),
  'openai/gpt-4o': gpt(2.5, 10, 128_000, 16_384),
  'openai/gpt-4o-mini': gpt(0.15, 0.6, 128_000, 16_384),
  'openai/gpt-5': gpt(1.25, 10, 400_000, 128_000),
  'openai/gpt-5-mini': gpt(0.25, 2, 400_000, 128_000),
  'openai/gpt-5-nano': gpt(0.05, 0.4, 400_000, 128_000),
  'openai/gpt-5.4-nano': gpt(0.2, 1.25, 400_000, 128_000),
  'openai/gpt-5.5': gptLong(5, 30),
  'openai/gpt-5.5-pro': gptLong(30, 180),
  'openai/gpt-5.6-luna': gptLong(0.2, 1.2),
  'openai/gpt-5.6-sol': gptLong(4, 20),
  'openai/gpt-5.6-terra': gptLong(2, 12),
  'openai/gpt-6-astra': gptLong(10, 50),
  'openai/gpt-6-luna': gptLong(0.1, 0.5),
  'openai/gpt-6-sol': gptLong(2, 10),
  'openai/gpt-6.1-sol': gptCached(2, 10),
  'openai/gpt-6.1-terra': gptCached(1, 5),
  'openai/gpt-6.2-astra': gptCached(8, 40),
  'openai/gpt-6.2-sol': gptCached(2, 10),
  'openai/o1': gpt(15, 60, 200_000, 100_000),
  'openai/o1-pro': gpt(150, 600, 200_000, 100_000),
  'openai/o3': gpt(2, 8, 200_000, 100_000),
  'openai/o4-mini': gpt(1.1, 4.4, 200_000, 100_000),
} satisfies Record<string, Rates>;

const gpts: PriceList = Object.fromEntries(
  Object.entries(gptRates).flatMap(([id, rates]) => [
    [id, responses(rates)],
    [`${id}-chat-completions`, chat(rates)],
  ]),
);

const seed = (input: number, output: number): Bill =>
  responses({
    input,
    output,
    reads: 262_144,
    writes: 131_072,
    long: { above: 128_000, input: input * 2, output: output * 2 },
  });

const gemini =
  (
    input: number,
    output: number,
    { audio = input, long }: { audio?: number; long?: Rates['long'] } = {},
  ): Bill =>
  (order) => {
    const each = order.units('/generationConfig/maxOutputTokens', { usual: 65_536, most: 65_536 });
    const written = each * order.units('/generationConfig/candidateCount', { usual: 1 });
    const files = ['inlineData', 'fileData', 'cachedContent', 'tools'];
    // A file may contain audio, which costs more.
    const dearest = order.tokens(2_000_000, files) >= 2_000_000 ? audio : input;
    return tokensOf(
      order,
      { input: dearest, output, reads: 1_048_576, writes: 65_536, ...(long && { long }) },
      files,
      written,
    );
  };

const until =
  (day: string, first: Bill, then: Bill): Bill =>
  (order) =>
    (order.atMs < Date.parse(day) ? first : then)(order);

/** Images, text and reasoning share the tokens of an answer, which has up to four images. */
const geminiImage =
  (rates: Rates & { image: number }, sizes: Readonly<Record<string, number>>): Bill =>
  (order) => {
    const { reads, writes, image, output, input } = rates;
    const each = order.units('/generationConfig/maxOutputTokens', { usual: writes, most: writes });
    const drawn = order.choice('/generationConfig/imageConfig/imageSize', sizes, '1K');
    const tokens = Math.max(1, Math.min(4, Math.floor(each / drawn))) * drawn;
    const answer = tokens * image + Math.max(0, each - tokens) * output;
    const read = order.tokens(reads, ['inlineData', 'fileData', 'cachedContent', 'tools']);
    return (answer * order.units('/generationConfig/candidateCount', { usual: 1 }) + read * input) / million;
  };

/** Tokens per image, by size. */
const flashSizes = { '512': 747, '1K': 1120, '2K': 1680, '4K': 2520 };

/** Dollars per million tokens, by OpenRouter's model names. */
const routed: Readonly<Record<string, readonly [number, number]>> = {
  'openai/gpt-5.6-luna': [0.2, 1.2],
  'anthropic/claude-opus-5': [5, 25],
  'anthropic/claude-opus-4.1': [15, 75],
  'anthropic/claude-opus-4.6-fast': [30, 150],
  'google/gemini-3-pro-image': [2, 120],
  'google/gemini-3.1-flash-image': [0.5, 60],
  'openai/o1-pro': [150, 600],
};

/** The price that OpenRouter charges for tokens of a model, in dollars. */
export function routedCost(model: string, { read, written }: { read: number; written: number }): number {
  const [input, output] = routed[model] ?? [0, 0];
  return (read * input + written * output) / million;
}

const routedBy = (index: 0 | 1): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(routed).map(([name, rates]) => [name, rates[index]]));

export const texts: PriceList = {
  ...gpts,
  'anthropic/claude-fable-*': claude(10, 50),
  'anthropic/claude-fable-5-2': claude(8, 40),
  'anthropic/claude-haiku-4-5-*': claude(1, 5, { reads: 200_000, located: false }),
  'anthropic/claude-haiku-5-5': claude(0.1, 0.5, { long: { above: 100_000, input: 0.5, output: 2.5 } }),
  'anthropic/claude-opus-4-5-*': claude(5, 25, { reads: 200_000, located: false }),
  'anthropic/claude-opus-5-5': claude(4, 20),
  'anthropic/claude-opus-*': claude(5, 25),
  'anthropic/claude-sonnet-4-5-*': claude(3, 15, { reads: 200_000, located: false }),
  'anthropic/claude-sonnet-4-6': claude(3, 15),
  'anthropic/claude-sonnet-5*': claude(2, 10),
  'byteplus/seed-2-0-lite-*': seed(0.25, 2),
  'byteplus/seed-2-0-mini-*': seed(0.1, 0.4),
  'byteplus/seed-2-0-pro-*': seed(0.5, 3),
  'openrouter/chat-completions': (order) => {
    const places = [
      ['/max_tokens', 1],
      ['/max_completion_tokens', 1],
    ] as const;
    const written = order.units(places, { usual: 128_000, most: 128_000 });
    const named = ['/model', '/models/*'];
    const input = order.choice(named, routedBy(0), 'openai/gpt-5.6-luna');
    const output = order.choice(named, routedBy(1), 'openai/gpt-5.6-luna');
    const leading = ['image_url', 'video_url', 'input_audio', 'file', 'tools', 'plugins'];
    return tokensOf(order, { input, output, reads: 200_000, writes: 128_000 }, leading, written);
  },
  'vertexai/gemini-2.5-flash': gemini(0.3, 2.5, { audio: 1 }),
  'vertexai/gemini-2.5-flash-lite': gemini(0.1, 0.4, { audio: 0.3 }),
  'vertexai/gemini-2.5-pro': gemini(1.25, 10, { long: { above: 200_000, input: 2.5, output: 15 } }),
  'vertexai/gemini-3.1-flash-lite': gemini(0.25, 1.5, { audio: 0.5 }),
  'vertexai/gemini-3.1-pro-preview': gemini(2, 12, { long: { above: 200_000, input: 4, output: 18 } }),
  'vertexai/gemini-3.5-flash': gemini(1.5, 9),
  'vertexai/gemini-3.5-flash-lite': gemini(0.3, 2.5),
  'vertexai/gemini-3.6-flash': until('2027-01-01', gemini(0.75, 3.75), gemini(1.5, 7.5)),
  'vertexai/gemini-3.7-flash': until('2027-01-01', gemini(0.75, 3.75), gemini(1.5, 7.5)),
  'vertexai/gemini-3.8-flash': until('2027-01-01', gemini(0.75, 3.75), gemini(1.5, 7.5)),
  'vertexai/gemini-4-argon': until('2026-12-01', gemini(2, 10), gemini(4, 20)),
  'vertexai/gemini-4-carbon': until('2026-12-01', gemini(2, 10), gemini(4, 20)),
  'vertexai/gemini-4-hydrogen': gemini(1.5, 7.5),
  'vertexai/gemini-4-neon': gemini(3, 15),
  'vertexai/gemini-3-pro-image': geminiImage(
    { input: 2, output: 12, image: 120, reads: 65_536, writes: 32_768 },
    { '1K': 1120, '2K': 1120, '4K': 2000 },
  ),
  'vertexai/gemini-3.1-flash-image': geminiImage(
    { input: 0.5, output: 3, image: 60, reads: 131_072, writes: 32_768 },
    flashSizes,
  ),
  'vertexai/gemini-3.1-flash-lite-image': geminiImage(
    { input: 0.25, output: 1.5, image: 30, reads: 65_536, writes: 4096 },
    flashSizes,
  ),
  'vertexai/gemini-nano-banana-2.1': geminiImage(
    { input: 1.5, output: 7.5, image: 30, reads: 131_072, writes: 32_768 },
    { ...flashSizes, '4K': 3800 },
  ),
  'gemini-interactions/gemini-embedding-001': (order) => (order.tokens(2048, []) * 0.15) / million,
  'gemini-interactions/gemini-embedding-001-batch': (order) => (order.tokens(204_800, []) * 0.15) / million,
  'gemini-interactions/*': (order) => {
    const written = order.units('/generation_config/max_output_tokens', { usual: 90_000, most: 90_000 });
    const leading = ['data', 'uri', 'tools', 'previous_interaction_id'];
    // Video is the most expensive output.
    return tokensOf(order, { input: 1.5, output: 17.5, reads: 1_048_576, writes: 90_000 }, leading, written);
  },
  'openai/tts-1': (order) => order.letters('/input') * 0.000015,
  'openai/tts-1-hd': (order) => order.letters('/input') * 0.00003,
  // About 820 characters make a minute of audio.
  'openai/gpt-4o-mini-tts': (order) => order.letters('/input') * 0.0000183,
  // The models read at most 16,000 tokens of audio and prompt. Chunks of one audio may be answered one by one.
  'openai/gpt-4o-transcribe': flat((16_000 * 2.5 + 16_000 * 10) / million),
  'openai/gpt-4o-mini-transcribe': flat((16_000 * 1.25 + 16_000 * 5) / million),
  // 25 MB at 8 kilobits a second, for 0.006 a minute.
  'openai/whisper-1': flat((26_214 / 60) * 0.006),
  'openai/text-embedding-3-small': (order) => (order.tokens(300_000, []) * 0.02) / million,
  'openai/text-embedding-3-large': (order) => (order.tokens(300_000, []) * 0.13) / million,
  'vertexai/gemini-embedding-001': (order) => (order.tokens(512_000, []) * 0.15) / million,
  // Ten hours.
  'elevenlabs/scribe_v*': (order) =>
    2.2 * (1 + (order.has('/entity_detection') ? 0.3 : 0) + (order.has('/keyterms') ? 0.2 : 0)),
  'elevenlabs/eleven_multilingual_v2': (order) => order.letters('/text') * 0.0001,
  'elevenlabs/eleven_*_v2_5': (order) => order.letters('/text') * 0.00005,
  'elevenlabs/eleven_v4_turbo': (order) => order.letters('/inputs/*/text') * 0.00005,
  'elevenlabs/eleven_v*': (order) => order.letters('/inputs/*/text') * 0.0001,
  'elevenlabs/multilingual-v2-*': (order) => order.letters('/text') * 0.0001,
  'elevenlabs/eleven_sfx_v2': (order) =>
    (order.units('/duration_seconds', { usual: 30, least: 0.5, most: 30, step: 0 }) * 0.14) / 60,
  'elevenlabs/music': (order) => {
    const places = [
      ['/music_length_ms', 1],
      ['/composition_plan/sections/*/duration_ms', 1],
    ] as const;
    return (order.units(places, { usual: 300_000, least: 3000 }) * 0.3) / 60_000;
  },
  'heygen/starfish': (order) => order.letters('/text') * 0.0000667,
  'minimax/speech-*-hd': (order) => order.letters('/text') * 0.0001,
  'minimax/speech-*-turbo': (order) => order.letters('/text') * 0.00006,
  'minimax/music-2.0': flat(0.03),
  'byteplus/seed-audio-1.0*': flat(0.3),
};
