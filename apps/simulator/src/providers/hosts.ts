import { keyIn, type Provider } from '../provider.js';

/** Every model has an address, and a second one for input with images. */
export const wavespeed: Provider = {
  name: 'wavespeed',
  protocols: [
    {
      submits: [
        {
          path: '/*',
          modelOf: ({ '*': path = '' }) => (/^[\w.-]+(\/[\w.-]+)+$/.test(path) ? path : undefined),
          promptOptional: (model) => model.startsWith('wavespeed-ai/'),
        },
      ],
      poll: { path: '/predictions/:id/result' },
      variantOf: ({ generation }) => (/video|flashvsr/.test(generation.model) ? '-video' : ''),
    },
  ],
};

export const krea: Provider = {
  name: 'krea',
  protocols: [
    {
      submits: ['medium', 'medium-turbo', 'large'].map((size) => ({
        path: `/generate/image/krea/krea-2/${size}`,
        modelOf: () => `krea-2-${size}`,
      })),
      poll: { path: '/jobs/:id' },
    },
  ],
};

const skinEnhancers = ['creative', 'faithful', 'flexible'].map((kind) => `skin-enhancer/${kind}`);

/** The skin enhancers share a polling address. */
export const freepik: Provider = {
  name: 'freepik',
  authorized: keyIn('x-magnific-api-key'),
  protocols: [
    { polled: 'skin-enhancer', submitted: skinEnhancers },
    ...['image-relight', 'image-style-transfer', 'image-upscaler-precision-v2'].map((kind) => ({
      polled: kind,
      submitted: [kind],
    })),
  ].map(({ polled, submitted }) => ({
    submits: submitted.map((kind) => ({
      path: `/v1/ai/${kind}`,
      modelOf: (_params, { image }) => (typeof image === 'string' ? kind : undefined),
      promptOptional: true,
    })),
    poll: { path: `/v1/ai/${polled}/:id` },
  })),
};

/** The path names the model, and the key has two parts. A generation that has started can't be cancelled. */
export const higgsfield: Provider = {
  name: 'higgsfield',
  authorized: (headers) => /^Key \S+/.test(headers.authorization ?? ''),
  protocols: [
    {
      submits: [
        {
          path: '/*',
          modelOf: ({ '*': path = '' }) => (/^[\w.-]+(\/[\w.-]+)+$/.test(path) ? path : undefined),
        },
      ],
      poll: { path: '/requests/:id/status' },
      cancel: { method: 'POST', path: '/requests/:id/cancel', queuedOnly: true },
    },
  ],
};
