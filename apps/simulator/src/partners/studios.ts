import { keyIn, type Partner, type Submit } from '../partner.js';

const edit = (path: string, modelOf: Submit['modelOf']): Submit => ({
  path,
  modelOf,
  promptOf: ({ instruction, prompt, object_name }) => instruction ?? prompt ?? object_name,
  promptOptional: true,
});

/** Images and videos have their results under different names; one model writes text. */
export const bria: Partner = {
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

/** The partner's second API. */
export const luma2: Partner = {
  name: 'luma-2',
  protocols: [{ submits: [{ path: '/generations' }], poll: { path: '/generations/:id' } }],
};

export const beeble: Partner = {
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

/** The model is a header. */
export const pruna: Partner = {
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

export const synclabs: Partner = {
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

/** Images come with the reply, videos are polled for. */
export const xai: Partner = {
  name: 'xai',
  protocols: [
    { name: 'image', submits: [{ path: '/images/generations' }] },
    { name: 'video', submits: [{ path: '/videos/generations' }], poll: { path: '/videos/:id' } },
  ],
};

/** The prompt is a text among the parts of a message. */
export const qwen: Partner = {
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

/** The voice stands in the body, the audio at an address in the reply. */
export const heygen: Partner = {
  name: 'heygen',
  authorized: keyIn('x-api-key'),
  protocols: [
    {
      submits: [{ path: '/v3/voices/speech', modelOf: () => 'starfish', promptOf: ({ text }) => text }],
    },
  ],
};
