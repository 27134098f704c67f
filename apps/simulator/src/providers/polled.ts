import { keyIn, type Provider } from '../provider.js';
import { responses } from '../event-forms.js';

const memberOf = (body: Record<string, unknown>, name: string) =>
  Object(body[name]) as Record<string, unknown>;

/** The reply contains images; videos are polled. Only a queued video can be cancelled. */
export const bytedance: Provider = {
  name: 'bytedance',
  protocols: [
    {
      name: 'video',
      submits: [
        {
          path: '/contents/generations/tasks',
          promptOf: ({ content }) =>
            Array.isArray(content)
              ? content.map((part) => String(Object(part).text ?? '')).join(' ')
              : content,
        },
      ],
      poll: { path: '/contents/generations/tasks/:id' },
      cancel: { method: 'DELETE', path: '/contents/generations/tasks/:id', queuedOnly: true },
    },
    { name: 'image', submits: [{ path: '/images/generations' }] },
    {
      name: 'text',
      submits: [{ path: '/responses', promptOf: ({ input }) => JSON.stringify(input) }],
      stream: responses,
    },
  ],
};

export const luma: Provider = {
  name: 'luma',
  protocols: [
    {
      submits: ['/generations/video', '/generations/image'].map((path) => ({ path })),
      poll: { path: '/generations/:id' },
      variantOf: ({ generation }) => (generation.model.startsWith('photon') ? '-photon' : ''),
    },
  ],
};

/** Each kind of model has its own address, under which it is polled. */
export const meshy: Provider = {
  name: 'meshy',
  protocols: [
    'v2/text-to-3d',
    'v1/image-to-3d',
    'v1/multi-image-to-3d',
    'v1/remesh',
    'v1/retexture',
    'v1/rigging',
    'v1/animations',
  ].map((kind) => ({
    submits: [
      {
        path: `/openapi/${kind}`,
        modelOf: (_params, { mode }) =>
          [kind.slice(3), ...(typeof mode === 'string' ? [mode] : [])].join('-'),
        promptOf: (body) => body['prompt'] ?? body['texture_prompt'] ?? body['text_style_prompt'],
        promptOptional: (model) => model !== 'text-to-3d-preview',
      },
    ],
    poll: { path: `/openapi/${kind}/:id` },
    variantOf: () => `-${kind.slice(3)}`,
  })),
};

/** Always answers HTTP 200. The reply contains audio; videos are polled, and their file's address is then fetched. */
export const minimax: Provider = {
  name: 'minimax',
  numericIds: true,
  protocols: [
    {
      name: 'video',
      submits: [{ path: '/v1/video_generation', promptOptional: (model) => !model.startsWith('T2V') }],
      poll: { path: '/v1/query/video_generation', idOf: ({ query }) => query['task_id'] ?? '' },
      fetch: {
        path: '/v1/files/retrieve',
        idOf: ({ query: { file_id = '' } }) =>
          /^\d{1,20}$/.test(file_id) ? String(BigInt(file_id) + 1n) : '',
      },
      // The file's ID is one less than the generation's.
      values: ({ generation }) => ({ fileid: String(BigInt(generation.id) - 1n) }),
    },
    {
      name: 'tasks',
      submits: [
        {
          path: '/v2/video_generation',
          promptOf: ({ content }) => content && JSON.stringify(content),
        },
      ],
      poll: { path: '/v2/query/video_generation/:id' },
    },
    {
      name: 'audio',
      submits: [{ path: '/v1/t2a_v2', promptOf: (body) => body['text'] }, { path: '/v1/music_generation' }],
    },
  ],
};

/** Always answers HTTP 200. Every call needs a unique trace ID. */
export const pixverse: Provider = {
  name: 'pixverse',
  authorized: keyIn('api-key'),
  traceHeader: 'ai-trace-id',
  numericIds: true,
  upload: {
    path: '/image/upload',
    part: 'image',
    members: ['img_id', 'first_frame_img', 'last_frame_img'],
  },
  protocols: [
    {
      submits: ['text', 'img', 'transition'].map((kind) => ({ path: `/video/${kind}/generate` })),
      poll: { path: '/video/result/:id' },
    },
  ],
};

/** The model's input is in `input`. The reply has the URLs of all further calls. */
export const replicate: Provider = {
  name: 'replicate',
  protocols: [
    {
      submits: [
        {
          path: '/models/:owner/:model/predictions',
          modelOf: ({ owner, model }, { input }) =>
            typeof input === 'object' ? `${owner}/${model}` : undefined,
          promptOf: (body) => memberOf(body, 'input')['prompt'] ?? memberOf(body, 'input')['text'],
          promptOptional: true,
        },
        {
          // Community models are named by their version.
          path: '/predictions',
          modelOf: (_path, { input, version }) =>
            typeof input === 'object' && typeof version === 'string' ? version : undefined,
          promptOf: (body) => memberOf(body, 'input')['prompt'] ?? memberOf(body, 'input')['text'],
          promptOptional: true,
        },
      ],
      poll: { path: '/predictions/:id' },
      cancel: { method: 'POST', path: '/predictions/:id/cancel' },
      variantOf: ({ generation }) => (/video|veo|hailuo|wan|kling/.test(generation.model) ? '-video' : ''),
    },
  ],
};

/** A header names the version of the API. */
export const runway: Provider = {
  name: 'runway',
  protocols: [
    {
      submits: ['text_to_image', 'text_to_video', 'video_to_video', 'image_to_video', 'video_upscale'].map(
        (kind) => ({
          path: `/v1/${kind}`,
          headers: { 'x-runway-version': '2024-11-06' },
          promptOf: (body) => body['promptText'],
          promptOptional: kind === 'image_to_video' || kind === 'video_upscale',
        }),
      ),
      poll: { path: '/v1/tasks/:id' },
      cancel: { method: 'DELETE', path: '/v1/tasks/:id' },
      variantOf: ({ generation }) => (generation.path.endsWith('image') ? '-image' : ''),
    },
  ],
};

/** Takes forms only. Replies with a file, or with an ID for slow operations. */
export const stability: Provider = {
  name: 'stability',
  protocols: [
    {
      name: 'now',
      submits: ['generate', 'edit', 'control', 'upscale'].map((kind) => ({
        path: `/stable-image/${kind}/:model`,
        form: true,
        modelOf: (params) => params['model'],
        promptOptional: kind !== 'generate',
      })),
    },
    {
      name: 'later',
      submits: [
        {
          path: '/stable-image/upscale/creative',
          form: true,
          modelOf: () => 'creative',
          promptOptional: true,
        },
      ],
      poll: { path: '/results/:id' },
    },
  ],
};

/** Has a single address; the body names the task. */
export const tripo: Provider = {
  name: 'tripo',
  protocols: [
    {
      submits: [
        {
          path: '/task',
          modelOf: (_params, { type }) => type,
          promptOptional: (model) => model !== 'text_to_model',
        },
      ],
      poll: { path: '/task/:id' },
    },
  ],
};

export const vidu: Provider = {
  name: 'vidu',
  authorized: (headers) => /^Token \S+$/.test(headers.authorization ?? ''),
  protocols: [
    {
      submits: ['text2video', 'img2video', 'reference2video', 'start-end2video'].map((kind) => ({
        path: `/${kind}`,
        promptOptional: kind !== 'text2video',
      })),
      poll: { path: '/tasks/:id/creations' },
      cancel: { method: 'POST', path: '/tasks/:id/cancel' },
    },
  ],
};

/** Submissions need the header for an asynchronous run. */
export const wan: Provider = {
  name: 'wan',
  protocols: [
    {
      submits: [
        'text2image/image-synthesis',
        'image2image/image-synthesis',
        'video-generation/video-synthesis',
      ].map((service) => ({
        path: `/services/aigc/${service}`,
        headers: { 'x-dashscope-async': 'enable' },
        promptOf: (body) => memberOf(body, 'input')['prompt'],
        promptOptional: (model) => /(i2v|i2v-preview|r2v|edit|-video|prime)$/.test(model),
      })),
      poll: { path: '/tasks/:id' },
      variantOf: ({ generation }) => (generation.path.includes('video') ? '-video' : ''),
    },
  ],
};
