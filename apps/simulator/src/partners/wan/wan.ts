import { filesOf, pollReply } from '../../course.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('wan');
const services = [
  'text2image/image-synthesis',
  'image2image/image-synthesis',
  'video-generation/video-synthesis',
];

const inputOf = (body: Record<string, unknown>): Record<string, unknown> =>
  typeof body['input'] === 'object' && body['input'] !== null ? { ...body['input'] } : {};

/** Wan on DashScope: takes a submission only with the header that asks for an asynchronous run. */
export const wan: Partner = {
  name: 'wan',
  authorized: bearer,
  submits: services.map((service) => ({
    path: `/services/aigc/${service}`,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
    prompt: { loc: ['body', 'input', 'prompt'], read: (body) => inputOf(body)['prompt'] },
    refuses: (headers) =>
      headers['x-dashscope-async'] === 'enable'
        ? undefined
        : {
            status: 403,
            body: { code: 'AccessDenied', message: 'current user api does not support synchronous calls.' },
          },
    answer: ({ generation }) => said('submit-accepted', { '/output/task_id': generation.id }),
  })),
  refusals: {
    unauthorized: said('submit-account-key'),
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { code: 'InternalError', message: 'An internal error has occured.' } },
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/message': first?.msg }),
  exampleFieldError: {
    loc: ['body', 'parameters', 'size'],
    msg: 'size must be between 512*512 and 1440*1440',
    type: 'invalid',
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/tasks/:id',
      role: 'poll',
      answer: progress,
      unknown: (id) => said('poll-lost', { '/output/task_id': id }),
    },
  ],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function progress(view: View) {
  const identity = { '/output/task_id': view.generation.id };
  const name = pollReply(view);
  if (name !== 'poll-succeeded') return said(name, identity);
  const files = filesOf(view);
  if (view.generation.path.includes('video'))
    return said('poll-succeeded-video', { ...identity, '/output/video_url': `${files}/0.mp4` });
  return view.control.has('soft_refusal')
    ? said('poll-content-policy-of-every-image', identity)
    : said(name, { ...identity, '/output/results': [{ url: `${files}/0.png` }] });
}
