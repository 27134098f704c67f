import { falUnits } from '../prices/fal-units.js';
import type { Provider } from '../provider.js';

/** Models whose result is one image and not a list. */
const isSingle = (model: string): boolean => model.endsWith('gemini-flash-edit');

/** The reply contains all URLs. They have only the owner and app of the model, and are on the API's own host. */
export const fal: Provider = {
  name: 'fal',
  authorized: (headers) => /^Key \S+/.test(headers.authorization ?? ''),
  protocols: [
    {
      submits: [
        {
          path: '/*',
          modelOf: ({ '*': path = '' }) => (/^[\w.-]+(\/[\w.-]+)+$/.test(path) ? path : undefined),
          promptOptional: (model) => /upscaler|patina|image-to-video/.test(model),
        },
      ],
      bareIds: true,
      poll: { path: '/:owner/:app/requests/:id/status' },
      fetch: { path: '/:owner/:app/requests/:id' },
      cancel: { method: 'PUT', path: '/:owner/:app/requests/:id/cancel' },
      values: ({ generation: { id, model, body }, control, api, assets }) => {
        const run = `${api}/${model.split('/').slice(0, 2).join('/')}/requests/${id}`;
        const isVideo = /video|veo/.test(model);
        const count = control.has('no_asset')
          ? 0
          : Number(/"num_images"\s*:\s*(\d)/.exec(body.toString())?.[1] ?? 1);
        const files = Array.from({ length: count }, (_none, at) => {
          const [ending, type] = isVideo ? ['mp4', 'video/mp4'] : ['png', 'image/png'];
          return JSON.stringify({ url: `${assets}/files/${id}/${at}.${ending}`, content_type: type });
        });
        const images = isSingle(model) ? `"image":${files[0] ?? 'null'}` : `"images":[${files.join(',')}]`;
        return {
          links: `"response_url":"${run}","status_url":"${run}/status","cancel_url":"${run}/cancel"`,
          cost: control.get('cost') || String(falUnits(model, body)),
          output: isVideo ? `"video":${files[0] ?? 'null'}` : images,
        };
      },
    },
  ],
};
