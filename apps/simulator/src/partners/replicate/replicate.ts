import { bearer } from '../../keys.js';
import { momentOf } from '../../moments.js';
import type { FieldError, Partner, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('replicate');

const failures = {
  policy_submit: said('poll-content-policy-nsfw'),
  policy_output: said('poll-content-policy'),
  field_output: said('poll-rejected-input'),
  job_failed: said('poll-failed'),
};

const inputOf = (body: Record<string, unknown>): Record<string, unknown> => Object(body['input']);

/** Replicate: the model's own input below `input`; the URLs of the reply lead to everything else. */
export const replicate: Partner = {
  name: 'replicate',
  authorized: bearer,
  submits: [
    {
      path: '/models/:owner/:model/predictions',
      modelOf: (params) => `${params['owner']}/${params['model']}`,
      prompt: {
        loc: ['input', 'prompt'],
        read: (body) => inputOf(body)['prompt'] ?? inputOf(body)['text'],
        optionalFor: () => true,
      },
      refuses: (_headers, body) => (typeof body['input'] === 'object' ? undefined : fieldErrors([missing])),
      answer: (view) => said('submit-accepted', about(view)),
    },
  ],
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy', {}),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { title: 'Internal server error', detail: 'Try again later', status: 500 } },
  },
  policyRefusal: null,
  fieldErrors,
  exampleFieldError: {
    loc: ['input', 'num_outputs'],
    msg: 'Must be less than or equal to 4',
    type: 'number_lte',
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/predictions/:id',
      role: 'poll',
      answer: predictionOf,
      unknown: () => said('poll-lost'),
    },
  ],
  cancel: {
    method: 'POST',
    path: '/predictions/:id/cancel',
    answer: (verdict) => said(verdict === 'too_late' ? 'cancel-too-late' : 'cancel-requested'),
    unknown: () => said('poll-lost'),
  },
  asset: { path: '/files/:id/:file' },
};

const missing: FieldError = { loc: ['input'], msg: 'Required', type: 'required' };

function fieldErrors(errors: FieldError[]): Reply {
  return said('submit-rejected-fields', {
    '/detail': errors.map(({ loc, msg }) => `- ${loc.join('.')}: ${msg}\n`).join(''),
    '/invalid_fields': errors.map(({ loc, msg, type }) => ({ field: loc.join('.'), description: msg, type })),
  });
}

function about({ generation, api }: View): Record<`/${string}`, unknown> {
  const url = `${api}/predictions/${generation.id}`;
  return {
    '/id': generation.id,
    '/model': generation.model,
    '/input/prompt': generation.prompt,
    '/urls': { get: url, cancel: `${url}/cancel` },
  };
}

function predictionOf(view: View): Reply {
  const { generation, assets } = view;
  const file = /video|veo|hailuo|wan|kling/.test(generation.model) ? '0.mp4' : '0.png';
  const output = [`${assets}/files/${generation.id}/${file}`];
  return momentOf(view, {
    queued: () => said('submit-accepted', about(view)),
    running: () => said('poll-running', about(view)),
    unknown: () => said('poll-unknown-word', about(view)),
    failed: (failure) => failures[failure],
    empty: () => said('poll-succeeded-without-result', about(view)),
    succeeded: () => said('poll-succeeded', { ...about(view), '/output': output }),
    canceled: () => said('poll-canceled', about(view)),
  });
}
