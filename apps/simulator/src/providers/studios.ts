import { keyIn, type Provider, type Submit } from '../provider.js';

const edit = (path: string, modelOf: Submit['modelOf']): Submit => ({
  path,
  modelOf,
  promptOf: ({ instruction, prompt, object_name }) => instruction ?? prompt ?? object_name,
  promptOptional: true,
});

/** Image and video results have different member names, and one model returns text. */
export const bria: Provider = {
  name: 'bria',
  authorized: keyIn('api_token'),
  protocols: [
    {
      submits: [
        edit('/image/edit', (_params, { model_version }) => model_version),
        edit('/image/edit/:tool', ({ tool }) => tool),
        edit('/video/edit/:tool', ({ tool }) => `video ${tool}`),
        edit('/structured_instruction/generate', () => 'structured instruction'),
      ],
      poll: { path: '/status/:id' },
      variantOf: ({ generation: { model } }) =>
        model.startsWith('video') ? '-video' : model.startsWith('structured') ? '-text' : '',
    },
  ],
};

/** The provider's second API. */
export const luma2: Provider = {
  name: 'luma-2',
  protocols: [{ submits: [{ path: '/generations' }], poll: { path: '/generations/:id' } }],
};

export const beeble: Provider = {
  name: 'beeble',
  authorized: keyIn('x-api-key'),
  protocols: [
    {
      submits: [
        {
          path: '/switchx/generations',
          modelOf: (_params, { source_uri }) => (typeof source_uri === 'string' ? 'switchx' : undefined),
          promptOptional: true,
        },
      ],
      poll: { path: '/switchx/generations/:id' },
    },
  ],
};

/** A header names the model. */
export const pruna: Provider = {
  name: 'pruna',
  authorized: keyIn('apikey'),
  protocols: [
    {
      submits: [
        {
          path: '/predictions',
          headers: { model: 'p-video-2' },
          modelOf: () => 'p-video-2',
          promptOf: ({ input }) => Object(input)['prompt'],
        },
      ],
      poll: { path: '/predictions/status/:id' },
    },
  ],
};

export const synclabs: Provider = {
  name: 'synclabs',
  authorized: keyIn('x-api-key'),
  protocols: [
    {
      submits: [
        { path: '/generate', promptOf: ({ options }) => Object(options)['prompt'], promptOptional: true },
      ],
      poll: { path: '/generate/:id' },
    },
  ],
};

/** The reply contains images; videos are polled. */
export const xai: Provider = {
  name: 'xai',
  protocols: [
    { name: 'image', submits: [{ path: '/images/generations' }] },
    { name: 'video', submits: [{ path: '/videos/generations' }], poll: { path: '/videos/:id' } },
  ],
};

/** The prompt is the text part of a message. */
export const qwen: Provider = {
  name: 'qwen',
  protocols: [
    {
      submits: [
        {
          path: '/services/aigc/multimodal-generation/generation',
          promptOf: ({ input }) => {
            const [{ content = [] } = {}] = Object(input)['messages'] ?? [];
            return (content as { text?: string }[]).find(({ text }) => text !== undefined)?.text;
          },
        },
      ],
    },
  ],
};

/** The body names the voice. The reply has the address of the audio. */
export const heygen: Provider = {
  name: 'heygen',
  authorized: keyIn('x-api-key'),
  protocols: [
    {
      submits: [{ path: '/v3/voices/speech', modelOf: () => 'starfish', promptOf: ({ text }) => text }],
    },
  ],
};
