import { Verbatim } from '../../json-text.js';
import { keyIn } from '../../keys.js';
import { failureOf } from '../../ledger/generation.js';
import type { Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('ideogram');

/** Ideogram: an unsafe picture is left out of a success, and a refused prompt is a 422. */
export const ideogram: Partner = {
  name: 'ideogram',
  authorized: keyIn('api-key'),
  submits: ['ideogram-v3', 'ideogram-v4'].map((model): PartnerSubmit => ({
    path: `/v1/${model}/generate`,
    atOnce: true,
    modelOf: () => model,
    prompt: { loc: ['prompt'], read: (body) => body['prompt'] },
    answer: pictures,
  })),
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]) =>
    said('submit-rejected-sentence', { '/error': `${first?.loc.join('.')}: ${first?.msg}` }),
  exampleFieldError: { loc: ['aspect_ratio'], msg: 'Invalid value', type: 'invalid' },
  calls: [],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function pictures({ generation, control, assets }: View): Reply {
  switch (failureOf(control)) {
    case 'policy_submit':
      return said('submit-content-policy');
    case 'policy_output':
      return said('submit-content-policy-of-output');
    case 'field_output':
      return said('submit-rejected-sentence');
    case 'job_failed':
      return said('submit-failed');
    case null:
      if (control.has('no_asset')) return said('submit-without-result');
      return said(control.has('soft_refusal') ? 'submit-accepted-partly' : 'submit-accepted', {
        [`/data/${control.has('soft_refusal') ? 1 : 0}/url`]: `${assets}/files/${generation.id}/0.png`,
        '/data/0/prompt': generation.prompt,
        '/data/0/seed': control.has('int64_id') ? new Verbatim(generation.id) : 12345,
      });
  }
}
