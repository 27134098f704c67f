import { chat, neither, operator, type PublicServer } from './public-server.js';

/** Lists in the forms of public servers that run models, written by hand. The forms are those of public clients and documentation, read on 2026-11-29. */
export const hosts: readonly PublicServer[] = [
  {
    server: 'Mistral',
    facts: operator,
    list: [
      {
        id: 'mistral-medium-2508',
        type: 'base',
        capabilities: {
          completion_chat: true,
          function_calling: true,
          vision: true,
          ocr: false,
          moderation: false,
        },
        max_context_length: 131_072,
        aliases: ['mistral-medium-latest'],
        deprecation: null,
      },
      {
        id: 'magistral-old',
        type: 'base',
        capabilities: { completion_chat: true, vision: false },
        max_context_length: 40_000,
        deprecation: '2199-11-30T12:00:00Z',
        deprecation_replacement_model: 'mistral-medium-2508',
      },
      {
        id: 'mistral-gone',
        type: 'base',
        capabilities: { completion_chat: true },
        max_context_length: 40_000,
        deprecation: '2025-11-30T12:00:00Z',
      },
      {
        id: 'mistral-embed',
        type: 'base',
        capabilities: { completion_chat: false, vision: false },
        max_context_length: 8192,
      },
      { id: 'mistral-moderation', type: 'base', capabilities: { completion_chat: false, moderation: true } },
      { id: 'mistral-ocr', type: 'base', capabilities: { completion_chat: false, vision: true, ocr: true } },
      {
        id: 'voxtral-transcribe',
        type: 'base',
        capabilities: { completion_chat: false, audio_transcription: true },
      },
      { id: 'ft-of-mine', type: 'fine-tuned', archived: true, capabilities: { completion_chat: true } },
    ],
    rows: {
      'mistral-medium-2508': {
        path: chat,
        model: 'mistral-medium-2508',
        in: ['text', 'image'],
        context: 131_072,
        usd: [0.5, 1.5],
      },
      'magistral-old': {
        path: chat,
        model: 'magistral-old',
        in: ['text'],
        context: 40_000,
        usd: [0.5, 1.5],
        ends: '2199-11-30',
      },
    },
    skipped: {
      'mistral-gone': 'the server announced its end for 2025-11-30',
      'mistral-embed': `${neither}its capabilities are not chat`,
      'mistral-moderation': `${neither}its capabilities are moderation`,
      'mistral-ocr': `${neither}its capabilities are vision, ocr`,
      'voxtral-transcribe': `${neither}its capabilities are audio_transcription`,
      'ft-of-mine': 'the server says that it is archived',
    },
  },
  {
    server: 'Together',
    list: [
      {
        id: 'meta-llama/Llama-3.3-70B',
        type: 'chat',
        display_name: 'Llama 3.3 70B',
        context_length: 131_072,
        pricing: { hourly: 0, input: 0.88, output: 0.88, base: 0, finetune: 0 },
      },
      {
        id: 'intfloat/e5-large',
        type: 'embedding',
        context_length: 514,
        pricing: { hourly: 0, input: 0.02, output: 0, base: 0, finetune: 0 },
      },
      { id: 'google/veo', type: 'video', pricing: { hourly: 0, input: 0, output: 0 } },
      { id: 'openai/whisper', type: 'transcribe', pricing: { hourly: 0, input: 0, output: 0 } },
      { id: 'a/reranker', type: 'rerank', context_length: 8192, pricing: { input: 0.1, output: 0.1 } },
      { id: 'a/dedicated', type: 'chat', context_length: 8192, pricing: { hourly: 5, input: 0, output: 0 } },
    ],
    rows: {
      'meta-llama/Llama-3.3-70B': {
        path: chat,
        model: 'meta-llama/Llama-3.3-70B',
        in: ['text'],
        context: 131_072,
        usd: [0.88, 0.88],
      },
      'intfloat/e5-large': {
        path: 'embeddings',
        model: 'intfloat/e5-large',
        in: ['text'],
        context: 514,
        usd: [0.02],
      },
    },
    skipped: {
      'google/veo': `${neither}its type is video`,
      'openai/whisper': `${neither}its type is transcribe`,
      'a/reranker': `${neither}its type is rerank`,
      'a/dedicated': 'its published price is 0: give --usd-per-million-input and --usd-per-million-output',
    },
  },
  {
    server: 'Groq',
    facts: operator,
    list: [
      {
        id: 'openai/gpt-oss-safeguard-20b',
        active: true,
        context_window: 131_072,
        output_modalities: ['text'],
      },
      { id: 'whisper-large-v3', active: true, context_window: 448, output_modalities: ['transcription'] },
      { id: 'orpheus', active: true, context_window: 4000, output_modalities: ['speech'] },
      { id: 'llama-old', active: false, context_window: 4096, output_modalities: ['text'] },
      { id: 'unsaid', active: true, context_window: 512 },
    ],
    rows: {
      'openai/gpt-oss-safeguard-20b': {
        path: chat,
        model: 'openai/gpt-oss-safeguard-20b',
        in: ['text'],
        context: 131_072,
        usd: [0.5, 1.5],
      },
    },
    skipped: {
      'whisper-large-v3': `${neither}its output is transcription`,
      orpheus: `${neither}its output is speech`,
      'llama-old': 'the server says that it is not active',
      unsaid: 'the server does not say what it is for: give --kind',
    },
  },
  {
    server: 'DeepInfra',
    list: [
      {
        id: 'vendor/maverick',
        metadata: {
          context_length: 1_000_000,
          tags: ['chat', 'vlm'],
          pricing: { input_tokens: 0.2, output_tokens: 0.8, cache_read_tokens: 0.1 },
        },
      },
      {
        id: 'vendor/minilm',
        metadata: { context_length: 512, tags: ['embed'], pricing: { input_tokens: 0.01 } },
      },
      { id: 'vendor/reranker', metadata: { tags: ['rerank'], pricing: { input_tokens: 0.01 } } },
      { id: 'vendor/bare', metadata: null },
    ],
    rows: {
      'vendor/maverick': {
        path: chat,
        model: 'vendor/maverick',
        in: ['text', 'image'],
        context: 1_000_000,
        usd: [0.2, 0.8, 0.1],
      },
      'vendor/minilm': {
        path: 'embeddings',
        model: 'vendor/minilm',
        in: ['text'],
        context: 512,
        usd: [0.01],
      },
    },
    skipped: {
      'vendor/reranker': `${neither}its tags are rerank`,
      'vendor/bare': 'the server does not say what it is for: give --kind',
    },
  },
  {
    server: 'Fireworks',
    facts: operator,
    list: [
      {
        id: 'accounts/fireworks/models/glm',
        kind: 'HF_BASE_MODEL',
        supports_chat: true,
        supports_image_input: true,
        context_length: 202_752,
      },
      {
        id: 'accounts/fireworks/models/embedder',
        kind: 'EMBEDDING_MODEL',
        supports_chat: false,
        context_length: 40_960,
      },
      { id: 'accounts/fireworks/models/flux', kind: 'FLUMINA_BASE_MODEL', supports_chat: false },
    ],
    rows: {
      'accounts/fireworks/models/glm': {
        path: chat,
        model: 'accounts/fireworks/models/glm',
        in: ['text', 'image'],
        context: 202_752,
        usd: [0.5, 1.5],
      },
      'accounts/fireworks/models/embedder': {
        path: 'embeddings',
        model: 'accounts/fireworks/models/embedder',
        in: ['text'],
        context: 40_960,
        usd: [0.5],
      },
    },
    skipped: { 'accounts/fireworks/models/flux': `${neither}it does not support chat` },
  },
  {
    server: 'vLLM',
    facts: { ...operator, kind: 'embedding' },
    list: [{ id: 'BAAI/bge-m3', object: 'model', owned_by: 'vllm', max_model_len: 8192 }],
    rows: {
      'BAAI/bge-m3': { path: 'embeddings', model: 'BAAI/bge-m3', in: ['text'], context: 8192, usd: [0.5] },
    },
    skipped: {},
  },
  {
    server: 'Ollama',
    facts: { ...operator, contextTokens: 32_768 },
    list: [
      { id: 'llama3.2:3b', object: 'model', capabilities: ['completion', 'tools', 'vision'] },
      { id: 'bge-m3', object: 'model', capabilities: ['embedding'] },
      { id: 'unsaid', object: 'model', owned_by: 'library' },
    ],
    rows: {
      'llama3.2:3b': {
        path: chat,
        model: 'llama3.2:3b',
        in: ['text', 'image'],
        context: 32_768,
        usd: [0.5, 1.5],
      },
      'bge-m3': { path: 'embeddings', model: 'bge-m3', in: ['text'], context: 32_768, usd: [0.5] },
    },
    skipped: { unsaid: 'the server does not say what it is for: give --kind' },
  },
];
