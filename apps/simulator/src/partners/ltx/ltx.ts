import { submitReply } from '../../course.js';
import { fileOf } from '../../files/file.js';
import { bearer } from '../../keys.js';
import type { Partner } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('ltx');

/** LTX: the connection is held until the clip is made, and then brings it. */
export const ltx: Partner = {
  name: 'ltx',
  authorized: bearer,
  submits: ['/text-to-video', '/image-to-video'].map((path) => ({
    path,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
    prompt: { loc: ['body', 'prompt'], read: (body) => body['prompt'] },
    atOnce: true,
    answer: (view) => {
      const name = submitReply(view);
      if (name !== 'submit-accepted') return said(name);
      const { type, bytes } = fileOf(view.generation, '0.mp4');
      return { status: 200, headers: { 'content-type': type }, body: bytes };
    },
  })),
  refusals: {
    unauthorized: said('submit-account-key'),
    no_credit: said('submit-account'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) => said('submit-rejected-fields', { '/error/message': first?.msg }),
  exampleFieldError: { loc: ['body', 'duration'], msg: 'duration: must be one of 6, 8, 10', type: 'invalid' },
  calls: [],
  cancel: null,
  asset: null,
};
