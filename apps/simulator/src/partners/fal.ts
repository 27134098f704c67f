import type { Partner } from '../partner.js';

/** All URLs come with the reply, carry owner and app only, and live on the API's own host. */
export const fal: Partner = {
  name: 'fal',
  authorized: (headers) => /^Key \S+/.test(headers.authorization ?? ''),
  protocols: [
    {
      submits: [
        {
          path: '/*',
          modelOf: ({ '*': path = '' }) => (/^[\w.-]+(\/[\w.-]+)+$/.test(path) ? path : undefined),
        },
      ],
      id: 'request_id',
      base: 'https://queue.fal.run',
      bareIds: true,
      poll: { path: '/:owner/:app/requests/:id/status' },
      fetch: { path: '/:owner/:app/requests/:id' },
      cancel: { method: 'PUT', path: '/:owner/:app/requests/:id/cancel' },
      edit: (text, { generation: { model, body }, control }) => {
        const count = control.has('no_asset')
          ? 0
          : Number(/"num_images"\s*:\s*(\d)/.exec(body.toString())?.[1] ?? 1);
        const made = /video|veo/.test(model)
          ? `"video":${count > 0 ? fileOf('mp4', 'video/mp4') : 'null'}`
          : `"images":[${Array.from({ length: count }, () => fileOf('png', 'image/png')).join(',')}]`;
        return text
          .replace(/"images":\[.*?\]/, made)
          .replaceAll('fal-ai/flux/', `${model.split('/').slice(0, 2).join('/')}/`);
      },
    },
  ],
};

const fileOf = (ending: string, type: string): string =>
  `{"url":"https://v3.fal.media/0.${ending}","content_type":"${type}"}`;
