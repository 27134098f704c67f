import { filesOf, pollReply } from '../../course.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('vidu');
const kinds = ['text2video', 'img2video', 'reference2video', 'start-end2video'];

/** Vidu: an address for every kind of clip; its creations are polled for. */
export const vidu: Partner = {
  name: 'vidu',
  authorized: (headers) => /^Token \S+$/.test(headers.authorization ?? ''),
  submits: kinds.map((kind) => ({
    path: `/${kind}`,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
    prompt: {
      loc: ['body', 'prompt'],
      read: (body) => body['prompt'],
      optionalFor: () => kind !== 'text2video',
    },
    answer: ({ generation }) =>
      said('submit-accepted', {
        '/task_id': generation.id,
        '/model': generation.model,
        '/prompt': generation.prompt,
      }),
  })),
  refusals: {
    unauthorized: { status: 401, body: { code: 401, reason: 'Unauthorized', message: 'invalid token' } },
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { code: 500, reason: 'InternalServiceFailure', message: 'internal error' } },
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/message': first?.msg }),
  exampleFieldError: { loc: ['body', 'duration'], msg: 'field duration is invalid', type: 'invalid' },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/tasks/:id/creations',
      role: 'poll',
      answer: progress,
      unknown: () => said('poll-lost'),
    },
  ],
  cancel: {
    method: 'POST',
    path: '/tasks/:id/cancel',
    answer: (verdict) => said(verdict === 'too_late' ? 'cancel-too-late' : 'cancel-requested'),
    unknown: () => said('poll-lost'),
  },
  asset: { path: '/files/:id/:file' },
};

function progress(view: View) {
  const name = pollReply(view);
  const files = filesOf(view);
  const creation = { id: `${view.generation.id}-0`, url: `${files}/0.mp4`, cover_url: `${files}/0.png` };
  return said(name, {
    '/id': view.generation.id,
    ...(name === 'poll-succeeded' && { '/creations': [creation] }),
  });
}
