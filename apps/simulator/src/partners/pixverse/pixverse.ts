import { filesOf, pollReply } from '../../course.js';
import { Verbatim } from '../../json-text.js';
import { keyIn } from '../../keys.js';
import type { Partner, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('pixverse');

/** PixVerse: HTTP 200 whatever happens, ids of 64 bits, and a trace id that no two calls share. */
export const pixverse: Partner = {
  name: 'pixverse',
  authorized: keyIn('api-key'),
  traceHeader: 'ai-trace-id',
  numericIds: true,
  submits: ['text', 'img', 'transition'].map((kind) => ({
    path: `/video/${kind}/generate`,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
    prompt: { loc: ['body', 'prompt'], read: (body) => body['prompt'] },
    answer: ({ generation }) => said('submit-accepted', { '/Resp/video_id': new Verbatim(generation.id) }),
  })),
  refusals: {
    unauthorized: said('submit-account-permission'),
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/ErrMsg': first?.msg }),
  exampleFieldError: { loc: ['body', 'duration'], msg: 'invalid duration', type: 'invalid' },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/video/result/:id',
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
  return said(name, {
    '/Resp/id': new Verbatim(view.generation.id),
    '/Resp/prompt': view.generation.prompt,
    ...(name === 'poll-succeeded' && { '/Resp/url': `${filesOf(view)}/0.mp4` }),
  });
}
