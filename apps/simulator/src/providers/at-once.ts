import { keyIn, type Provider } from '../provider.js';
import {
  chatCompletions,
  completions,
  messages,
  pictures,
  responses,
  speech,
  transcripts,
} from '../event-forms.js';
import { routedCost } from '../prices/texts.js';

/** For prompts nested deep in a conversation, the whole conversation serves as the prompt. */
const words = (said: unknown) => said && JSON.stringify(said);

/** The reply is the message, or the number of tokens. */
export const anthropic: Provider = {
  name: 'anthropic',
  authorized: keyIn('x-api-key'),
  protocols: [
    {
      submits: [
        {
          path: '/messages',
          headers: { 'anthropic-version': /^20\d\d-\d\d-\d\d$/ },
          promptOf: (body) => words(body['messages']),
        },
        { path: '/messages/count_tokens', promptOf: (body) => words(body['messages']) },
      ],
      stream: messages,
      variantOf: ({ generation: { path } }) => (path.endsWith('/count_tokens') ? '-count' : ''),
    },
  ],
};

export const byteplusSpeech: Provider = {
  name: 'byteplus-speech',
  authorized: keyIn('x-api-key'),
  traceHeader: 'x-api-request-id',
  protocols: [{ submits: [{ path: '/tts/create', promptOf: (body) => body['text_prompt'] }] }],
};

/** The address names the voice, and the reply is the audio. A transcript is JSON. */
export const elevenlabs: Provider = {
  name: 'elevenlabs',
  authorized: keyIn('xi-api-key'),
  protocols: [
    {
      submits: [
        {
          path: '/text-to-speech/:voice',
          modelOf: (params) => params['voice'],
          promptOf: (body) => body['text'],
        },
        {
          path: '/text-to-dialogue',
          promptOf: ({ inputs }) =>
            Array.isArray(inputs) ? inputs.map((part) => String(Object(part).text ?? '')).join(' ') : inputs,
          modelOf: (_params, { model_id }) => model_id ?? 'dialogue',
        },
        { path: '/sound-generation', modelOf: () => 'sound', promptOf: (body) => body['text'] },
        { path: '/music', modelOf: () => 'music' },
      ],
    },
    {
      name: 'transcription',
      submits: [
        {
          path: '/speech-to-text',
          form: true,
          modelOf: (_params, { model_id }) => model_id,
          promptOptional: true,
        },
      ],
    },
  ],
};

export const geminiInteractions: Provider = {
  name: 'gemini-interactions',
  authorized: keyIn('x-goog-api-key'),
  protocols: [
    { name: 'interactions', submits: [{ path: '/interactions', promptOf: (body) => words(body['input']) }] },
    {
      name: 'embedding',
      submits: ['embedContent', 'batchEmbedContents'].map((method) => ({
        path: `/models/:model([^:/]+)::${method}`,
        modelOf: ({ model }) => model,
        promptOf: (body) => words(body['content'] ?? body['requests']),
      })),
      variantOf: ({ generation: { path } }) => (path.endsWith(':batchEmbedContents') ? '-batch' : ''),
      values: ({ generation: { body } }) => ({ vectors: vectorsFor(body) }),
    },
  ],
};

/** One vector for each text of a batch. */
function vectorsFor(body: Buffer): string {
  const { requests } = JSON.parse(body.toString()) as { requests?: unknown };
  const texts = Array.isArray(requests) ? requests : [];
  return JSON.stringify(texts.map(() => ({ values: [0.0117, -0.0216, 0.0093] })));
}

export const ideogram: Provider = {
  name: 'ideogram',
  authorized: keyIn('api-key'),
  protocols: [
    {
      submits: [
        ...['ideogram-v3', 'ideogram-v4'].map((model) => ({
          path: `/v1/${model}/generate`,
          modelOf: () => model,
          promptOf: ({ prompt, text_prompt, json_prompt }: Record<string, unknown>) =>
            prompt ?? text_prompt ?? (json_prompt && JSON.stringify(json_prompt)),
        })),
        ...['generate', 'precise-edit'].map((kind) => ({
          path: `/v2/image/${kind}/:model`,
          form: 'or JSON' as const,
          modelOf: ({ model }: Record<string, string>) => model,
        })),
        {
          path: '/v1/text-to-image/:model',
          form: true as const,
          modelOf: ({ model }: Record<string, string>) => model,
        },
      ],
    },
  ],
};

/** The v1 addresses hold the connection until the video is ready and then return it. The v2 address is polled. */
export const ltx: Provider = {
  name: 'ltx',
  protocols: [
    { submits: ['/v1/text-to-video', '/v1/image-to-video'].map((path) => ({ path })) },
    { name: 'jobs', submits: [{ path: '/v2/text-to-video' }], poll: { path: '/v2/text-to-video/:id' } },
  ],
};

export const openai: Provider = {
  name: 'openai',
  protocols: [
    {
      name: 'images',
      submits: [{ path: '/images/generations' }, { path: '/images/edits', form: 'or JSON' }],
      stream: pictures,
    },
    {
      name: 'speech',
      submits: [{ path: '/audio/speech', promptOf: (body) => body['input'] }],
      stream: speech,
    },
    {
      name: 'transcription',
      submits: [{ path: '/audio/transcriptions', form: true, promptOptional: true }],
      variantOf: ({ generation }) => (generation.model.startsWith('whisper') ? '-whisper' : ''),
      stream: transcripts,
    },
    { name: 'embeddings', submits: [{ path: '/embeddings', promptOf: (body) => words(body['input']) }] },
    {
      name: 'text',
      submits: [{ path: '/responses', promptOf: (body) => words(body['input']) }],
      stream: responses,
    },
    {
      name: 'chat',
      submits: [{ path: '/chat/completions', promptOf: (body) => words(body['messages']) }],
      stream: chatCompletions,
    },
  ],
};

export const openrouter: Provider = {
  name: 'openrouter',
  record: {
    path: '/generation',
    bodyOf: ({ id, model, used, abortedAtMs }) => ({
      data: {
        id: `gen-${id}`,
        model,
        total_cost: routedCost(model, used ?? { read: 0, written: 0 }),
        cancelled: abortedAtMs !== null,
      },
    }),
  },
  protocols: [
    {
      submits: [{ path: '/chat/completions', promptOf: (body) => words(body['messages']) }],
      stream: completions,
    },
  ],
};

const tools = ['crispUpscale', 'creativeUpscale', 'removeBackground', 'vectorize'];

/** Generates images, or edits a single image with a tool. */
export const recraft: Provider = {
  name: 'recraft',
  protocols: [
    {
      submits: ['generations', 'imageToImage', ...tools].map((kind) => ({
        path: `/images/${kind}`,
        modelOf: (_params, { model }) => model ?? kind,
        promptOptional: tools.includes(kind),
      })),
      variantOf: ({ generation }) => (tools.some((tool) => generation.path.includes(tool)) ? '-tool' : ''),
    },
  ],
};
