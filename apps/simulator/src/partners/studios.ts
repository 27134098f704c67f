import { keyIn, type Partner } from '../partner.js';

/** Images and videos have their results under different names; one model writes text. */
export const bria: Partner = {
  name: 'bria',
  authorized: keyIn('api_token'),
  protocols: [
    {
      submits: [
        { path: '/image/edit', modelOf: (_params, { model_version }) => model_version },
        { path: '/image/edit/:tool', modelOf: ({ tool }) => tool },
        { path: '/video/edit/:tool', modelOf: ({ tool }) => `video ${tool}` },
        { path: '/structured_instruction/generate', modelOf: () => 'structured instruction' },
      ].map((submit) => ({
        ...submit,
        promptOf: ({ instruction, prompt, object_name }) => instruction ?? prompt ?? object_name,
        promptOptional: true,
      })),
      poll: { path: '/status/:id' },
      variantOf: ({ generation: { model } }) =>
        model.startsWith('video') ? '-video' : model.startsWith('structured') ? '-text' : '',
    },
  ],
};

/** The partner's second API. */
export const luma2: Partner = {
  name: 'luma_2',
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
