import { filesOf, pollReply } from '../../course.js';
import { bearer } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('tripo');

/** Tripo: one address; the body says what is to be done. */
export const tripo: Partner = {
  name: 'tripo',
  authorized: bearer,
  submits: [
    {
      path: '/task',
      modelOf: (_params, body) => (typeof body['type'] === 'string' ? body['type'] : undefined),
      prompt: {
        loc: ['body', 'prompt'],
        read: (body) => body['prompt'],
        optionalFor: (model) => model !== 'text_to_model',
      },
      answer: ({ generation }) => said('submit-accepted', { '/data/task_id': generation.id }),
    },
  ],
  refusals: {
    unauthorized: { status: 401, body: { code: 1002, message: 'Authentication failed', suggestion: '' } },
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { code: 1000, message: 'Server error', suggestion: '' } },
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/message': first?.msg }),
  exampleFieldError: {
    loc: ['body', 'face_limit'],
    msg: 'The parameter face_limit is invalid',
    type: 'invalid',
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/task/:id',
      role: 'poll',
      answer: progress,
      unknown: () => said('poll-lost'),
    },
  ],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function progress(view: View) {
  const asked = pollReply(view);
  // An input that only the model could refuse fails like any other run.
  const name = asked === 'poll-rejected' ? 'poll-failed' : asked;
  const files = filesOf(view);
  return said(name, {
    '/data/task_id': view.generation.id,
    '/data/type': view.generation.model,
    ...(name === 'poll-succeeded' && {
      '/data/output': { pbr_model: `${files}/0.glb`, rendered_image: `${files}/0.png` },
    }),
  });
}
