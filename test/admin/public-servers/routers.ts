import { chat, neither, type PublicServer, unpriced } from './public-server.js';

/** Lists in the forms of public servers that pass calls on, written by hand. The forms are those of public clients and documentation, read on 2026-11-29. */
export const routers: readonly PublicServer[] = [
  {
    server: 'Vercel',
    list: [
      {
        id: 'alibaba/qwen-max',
        type: 'language',
        name: 'Qwen Max',
        context_window: 262_144,
        tags: ['tool-use', 'vision'],
        pricing: {
          input: '0.0000012',
          output: '0.000006',
          input_cache_read: '0.00000024',
          input_tiers: [
            { cost: '0.0000012', min: 0, max: 32_001 },
            { cost: '0.0000024', min: 32_001 },
          ],
          output_tiers: [
            { cost: '0.000006', min: 0, max: 32_001 },
            { cost: '0.000012', min: 32_001 },
          ],
        },
      },
      { id: 'bfl/flux-pro', type: 'image', pricing: { image: '0.04' } },
      {
        id: 'google/imagen',
        type: 'image',
        pricing: { image: '0.04', image_dimension_quality_pricing: [{ size: '2K', cost: '0.06' }] },
      },
      { id: 'google/veo', type: 'video', pricing: {} },
      { id: 'cohere/rerank', type: 'reranking', context_window: 4096 },
    ],
    rows: {
      'alibaba/qwen-max': {
        path: chat,
        model: 'alibaba/qwen-max',
        in: ['text', 'image'],
        context: 262_144,
        usd: [1.2, 6, 0.24],
      },
      'bfl/flux-pro': { path: 'images/generations', model: 'bfl/flux-pro', in: ['text'], usd: [0.04] },
    },
    skipped: {
      'google/imagen': 'the server publishes no price of an image: give --image-cents',
      'google/veo': `${neither}its type is video`,
      'cohere/rerank': `${neither}its type is reranking`,
    },
  },
  {
    server: 'OpenRouter',
    list: [
      {
        id: 'vendor/chat',
        name: 'Vendor: Chat',
        context_length: 200_000,
        architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
        pricing: {
          prompt: '0.000003',
          completion: '0.000015',
          web_search: '0.01',
          internal_reasoning: '0.000015',
          input_cache_read: '0.0000003',
        },
        expiration_date: null,
      },
      {
        id: 'vendor/router',
        architecture: { output_modalities: ['text'] },
        context_length: 2_000_000,
        pricing: { prompt: '-1', completion: '-1' },
      },
      {
        id: 'vendor/hears',
        architecture: { output_modalities: ['text'] },
        context_length: 1_000_000,
        pricing: { prompt: '0.0000003', completion: '0.0000025', audio: '0.000001' },
      },
      {
        id: 'vendor/painter',
        architecture: { output_modalities: ['image'] },
        pricing: { prompt: '0', completion: '0' },
      },
      {
        id: 'vendor/late',
        architecture: { output_modalities: ['text'] },
        expiration_date: '2025-12-31',
        pricing: { prompt: '0.000001', completion: '0.000001' },
      },
    ],
    rows: {
      'vendor/chat': {
        path: chat,
        model: 'vendor/chat',
        in: ['text', 'image'],
        context: 200_000,
        usd: [3, 15, 0.3],
      },
    },
    skipped: {
      'vendor/router':
        'its price depends on the request: give --usd-per-million-input and --usd-per-million-output',
      'vendor/hears':
        'it also has prices for audio, which a row cannot bill: give --usd-per-million-input and --usd-per-million-output',
      'vendor/painter': `${neither}its output is image`,
      'vendor/late': 'the server announced its end for 2025-12-31',
    },
  },
  {
    server: 'Hugging Face',
    list: [
      {
        id: 'org/model',
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        providers: [
          { provider: 'dear', status: 'live', context_length: 262_144, pricing: { input: 2, output: 4 } },
          {
            provider: 'cheap',
            status: 'live',
            context_length: 131_072,
            pricing: { input: 0.5, output: 1.25 },
          },
          {
            provider: 'down',
            status: 'error',
            context_length: 131_072,
            pricing: { input: 0.1, output: 0.1 },
          },
          { provider: 'unsaid', status: 'live' },
        ],
      },
      {
        id: 'org/unpriced',
        architecture: { output_modalities: ['text'] },
        providers: [{ provider: 'unsaid', status: 'live' }],
      },
    ],
    rows: {
      'org/model': { path: chat, model: 'org/model:cheap', in: ['text'], context: 131_072, usd: [0.5, 1.25] },
    },
    skipped: { 'org/unpriced': unpriced },
  },
];
