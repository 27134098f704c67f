import { beforeAll, describe, expect, it } from '@jest/globals';
import { reportedMicros } from '#providers';
import type { Catalog } from './catalog.js';
import { loadCatalog } from './load-catalog.js';
import { quote } from './quote.js';

interface PricedInput {
  model: string;
  input: object;
  /** The price of this input in the provider's public price list, in dollars. The sources are in the rows. */
  listUsd: number;
  /** The reply of a provider that reports the cost of this input. */
  reply?: { json?: object; headers?: Record<string, string> };
  /** The reserved and billed amounts, in dollars. */
  reserved: number;
  billed: number;
}

const text = 'x'.repeat(36);
const veo = {
  instances: [{ prompt: 'a' }],
  parameters: { durationSeconds: 4, generateAudio: false, resolution: '720p', sampleCount: 1 },
};
const video = { prompt: 'a', content: [{ type: 'text', text: 'a' }], resolution: '720p', duration: 5 };
const tokens = (completion_tokens: number) => ({ json: { usage: { completion_tokens } } });

const asked = { max_tokens: 256, messages: [{ role: 'user', content: 'a'.repeat(400) }] };
const longUse = {
  input_tokens: 300_000,
  input_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 40_000 },
  output_tokens: 1000,
};

/** From the cheapest to the most expensive. */
const inputs: PricedInput[] = [
  {
    // Tokens from the cache belong to the prompt, which therefore has more than 100,000 tokens: all cost five times as much.
    model: 'anthropic/claude-haiku-5-5',
    input: {
      max_tokens: 256,
      cache_control: { type: 'ephemeral' },
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
        },
      ],
    },
    listUsd: 0.01475,
    reply: {
      json: { usage: { input_tokens: 20_000, cache_read_input_tokens: 90_000, output_tokens: 100 } },
    },
    reserved: 0.62564,
    billed: 0.01475,
  },
  {
    // Above 272,000 tokens everything but the output costs twice as much, also what is kept in the cache for 12 hours.
    model: 'openai/gpt-6.2-sol',
    input: {
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }],
      max_output_tokens: 1000,
      prompt_cache_options: { ttl: '12h' },
    },
    listUsd: 1.075,
    reply: { json: { usage: longUse } },
    reserved: 10.515,
    billed: 1.075,
  },
  { model: 'openai/tts-1', input: { input: text }, listUsd: 0.00054, reserved: 0.00054, billed: 0.00054 },
  {
    model: 'elevenlabs/multilingual-v2-aria',
    input: { text },
    listUsd: 0.0036,
    reply: { headers: { 'character-cost': '36' } },
    reserved: 0.0108,
    billed: 0.0036,
  },
  {
    // Half of the tokens are read from the cache, and 20 are written to it for an hour.
    model: 'anthropic/claude-opus-5',
    input: asked,
    listUsd: 0.00395,
    reply: {
      json: {
        usage: {
          input_tokens: 50,
          cache_read_input_tokens: 50,
          cache_creation_input_tokens: 20,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 20 },
          output_tokens: 139,
        },
      },
    },
    reserved: 0.013685,
    billed: 0.00395,
  },
  {
    // Above 272,000 tokens the input, including cached tokens, costs twice as much, and the output 1.5 times as
    // much.
    model: 'openai/gpt-6-sol',
    input: { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    listUsd: 0.895,
    reply: { json: { usage: longUse } },
    reserved: 7.17,
    billed: 0.895,
  },
  {
    // 7,200 of 10,000 audio tokens came from the cache. The surcharge for audio applies to the others.
    model: 'vertexai/gemini-2.5-flash',
    input: { contents: [{ parts: [{ fileData: { fileUri: 'gs://a/b.wav' } }] }] },
    listUsd: 0.003016,
    reply: {
      json: {
        usageMetadata: {
          promptTokenCount: 10_000,
          cachedContentTokenCount: 7200,
          promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 10_000 }],
          cacheTokensDetails: [
            { modality: 'TEXT', tokenCount: 0 },
            { modality: 'AUDIO', tokenCount: 7200 },
          ],
        },
      },
    },
    reserved: 1.212416,
    billed: 0.003016,
  },
  {
    // The number of frames overrides the seconds.
    model: 'byteplus/seedance-1-0-pro-250528',
    input: { ...video, duration: 2, frames: 289 },
    listUsd: 0.62,
    reply: tokens(247_962),
    reserved: 0.67915,
    billed: 0.619905,
  },
  {
    model: 'openai/gpt-image-1.5',
    input: { prompt: 'a', quality: 'low', size: '1024x1024', n: 1 },
    listUsd: 0.009,
    reply: {
      json: { usage: { input_tokens_details: { text_tokens: 8, image_tokens: 0 }, output_tokens: 272 } },
    },
    reserved: 0.009005,
    billed: 0.008744,
  },
  {
    model: 'elevenlabs/eleven_sfx_v2',
    input: { text: 'rain', duration_seconds: 5 },
    listUsd: 0.0117,
    reserved: 0.011667,
    billed: 0.011667,
  },
  {
    model: 'bfl/flux-2-pro',
    input: { prompt: 'a', width: 1024, height: 1024 },
    listUsd: 0.03,
    reply: { json: { cost: 3.0 } },
    reserved: 0.045,
    billed: 0.03,
  },
  {
    model: 'byteplus/seedream-4-0-250828',
    input: { prompt: 'a', sequential_image_generation: 'disabled' },
    listUsd: 0.03,
    reply: { json: { usage: { generated_images: 1 } } },
    reserved: 0.03,
    billed: 0.03,
  },
  {
    model: 'ideogram/ideogram-v4',
    input: { text_prompt: 'a', rendering_speed: 'TURBO' },
    listUsd: 0.03,
    reserved: 0.03,
    billed: 0.03,
  },
  {
    model: 'bfl/flux-kontext-pro',
    input: { prompt: 'a' },
    listUsd: 0.04,
    reply: { json: { cost: '4' } },
    reserved: 0.04,
    billed: 0.04,
  },
  {
    model: 'recraft/recraftv4',
    input: { prompt: 'a', n: 1 },
    listUsd: 0.04,
    reply: { json: { credits: 40 } },
    reserved: 0.04,
    billed: 0.04,
  },
  {
    model: 'bfl/flux-2-max',
    input: { prompt: 'a', width: 1024, height: 1024 },
    listUsd: 0.07,
    reply: { json: { cost: 7 } },
    reserved: 0.1,
    billed: 0.07,
  },
  {
    model: 'byteplus/seedance-1-0-pro-fast-251015',
    input: video,
    listUsd: 0.103,
    reply: tokens(102_960),
    reserved: 0.1128,
    billed: 0.10296,
  },
  {
    model: 'runway/gen4_turbo',
    input: { duration: 5 },
    listUsd: 0.25,
    reply: { json: { cost: { credits: 25 } } },
    reserved: 0.25,
    billed: 0.25,
  },
  {
    model: 'byteplus/seedance-1-0-pro-250528',
    input: video,
    listUsd: 0.2574,
    reply: tokens(102_960),
    reserved: 0.282,
    billed: 0.2574,
  },
  {
    model: 'byteplus/seedance-1-5-pro-251215',
    input: { ...video, generate_audio: true },
    listUsd: 0.2592,
    reply: tokens(108_000),
    reserved: 0.27072,
    billed: 0.2592,
  },
  {
    model: 'minimax/hailuo-02',
    input: { prompt: 'a', duration: 6, resolution: '768P' },
    listUsd: 0.28,
    reserved: 0.28,
    billed: 0.28,
  },
  {
    model: 'veo/veo-3.1-fast-generate-001',
    input: veo,
    listUsd: 0.32,
    reply: { json: { response: { videos: [{}] } } },
    reserved: 0.32,
    billed: 0.32,
  },
  {
    model: 'vidu/q2-text-to-video',
    input: { duration: 6, resolution: '1080p' },
    listUsd: 0.35,
    reply: { json: { credits: 70 } },
    reserved: 0.35,
    billed: 0.35,
  },
  {
    model: 'veo/veo-3.1-generate-001',
    input: veo,
    listUsd: 0.8,
    reply: { json: { response: { videos: [{}] } } },
    reserved: 0.8,
    billed: 0.8,
  },
  {
    model: 'pixverse/v5-text-to-video',
    input: { quality: '1080p', duration: 5, motion_mode: 'normal' },
    listUsd: 1.2,
    reserved: 1.2,
    billed: 1.2,
  },
  {
    model: 'luma/ray-2',
    input: { resolution: '1080p', duration: '9s' },
    listUsd: 2.8672,
    reserved: 2.873194,
    billed: 2.873194,
  },
];

describe('priced inputs', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = await loadCatalog();
  });

  it.each(inputs)('$model: $billed of $reserved dollars', ({ model, input, listUsd, reply, ...expected }) => {
    const row = catalog.models.find(({ id }) => id === model);
    if (row === undefined) throw new Error(`there is no ${model}`);
    const { upperMicros, computedMicros, reported } = quote(row, input);
    const told =
      reply &&
      reportedMicros(reported, {
        status: 200,
        headers: { ...reply.headers },
        body: new TextEncoder().encode(JSON.stringify(reply.json ?? {})),
      });
    expect(told !== undefined).toBe(reply !== undefined);
    const billed = Math.min(upperMicros, told ?? computedMicros) / 1e6;
    expect({ reserved: upperMicros / 1e6, billed }).toEqual(expected);
    expect(Math.abs(billed / listUsd - 1)).toBeLessThan(0.05);
  });

  const drawn = { usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 1290 } };
  const cut = { usage: { output_image_count: 1, output_image_type: 'qima_output_8k', input_image_count: 0 } };
  it.each([
    ['vertexai/gemini-3-pro-image', drawn],
    ['vertexai/gemini-3.1-flash-image', drawn],
    ['vertexai/gemini-3.1-flash-lite-image', drawn],
    ['vertexai/gemini-nano-banana-2.1', drawn],
    ['qwen/qwen-image-3.0', cut],
    ['qwen/qwen-image-3.0-pro', cut],
  ])('%s: a reply without the kind of its images reports no cost', (model, json) => {
    const row = catalog.models.find(({ id }) => id === model);
    if (row === undefined) throw new Error(`there is no ${model}`);
    const reply = { status: 200, headers: {}, body: new TextEncoder().encode(JSON.stringify(json)) };
    expect(reportedMicros(quote(row, {}).reported, reply)).toBeUndefined();
  });
});
