import { filesOf, pollReply } from '../../course.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('meshy');
const kinds = [
  'v1/image-to-3d',
  'v1/multi-image-to-3d',
  'v1/remesh',
  'v1/retexture',
  'v1/rigging',
  'v1/animations',
];
const paths = ['v2/text-to-3d', ...kinds].map((kind) => `/openapi/${kind}`);

/** Meshy: an address for every kind of model, polled below the same address. */
export const meshy: Partner = {
  name: 'meshy',
  authorized: bearer,
  submits: paths.map((path) => ({
    path,
    modelOf: (_params, { mode }) =>
      [path.slice(path.lastIndexOf('/') + 1), ...(typeof mode === 'string' ? [mode] : [])].join('-'),
    prompt: {
      loc: ['body', 'prompt'],
      read: (body) => body['prompt'] ?? body['texture_prompt'] ?? body['text_style_prompt'],
      optionalFor: (model) => model !== 'text-to-3d-preview',
    },
    answer: ({ generation }) => said('submit-accepted', { '/result': generation.id }),
  })),
  refusals: {
    unauthorized: said('submit-account-key'),
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { message: 'Internal Server Error' } },
  },
  policyRefusal: null,
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/message': `Invalid values: ${first?.msg}` }),
  exampleFieldError: {
    loc: ['body', 'target_polycount'],
    msg: 'target_polycount must be between 100 and 300000',
    type: 'range',
  },
  calls: paths.map((path) => ({
    listener: 'api',
    method: 'GET',
    path: `${path}/:id`,
    role: 'poll',
    answer: progress,
    unknown: () => said('poll-lost'),
  })),
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function progress(view: View) {
  const name = pollReply(view);
  const identity = { '/id': view.generation.id, '/prompt': view.generation.prompt };
  // It has no words of its own for a refusal.
  if (name === 'poll-content-policy' || name === 'poll-rejected') return said('poll-failed', identity);
  if (name !== 'poll-succeeded') return said(name, identity);
  const files = filesOf(view);
  if (/rigging|animations/.test(view.generation.model)) {
    const kind = view.generation.model === 'rigging' ? 'rigged_character' : 'animation';
    return said('poll-succeeded-rigging', {
      ...identity,
      '/result': { [`${kind}_glb_url`]: `${files}/0.glb` },
    });
  }
  return said(name, {
    ...identity,
    '/model_urls': { glb: `${files}/0.glb` },
    '/thumbnail_url': `${files}/0.png`,
  });
}
