import { bearer } from '../../keys.js';
import { momentOf } from '../../moments.js';
import type { FieldError, Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('runway');

const failures = {
  policy_submit: said('poll-content-policy'),
  policy_output: said('poll-content-policy-of-output'),
  field_output: said('poll-rejected-asset'),
  job_failed: said('poll-failed'),
};

/** Runway: every address but the tasks' own begins one; the version of the API stands in a header. */
export const runway: Partner = {
  name: 'runway',
  authorized: bearer,
  submits: ['text_to_image', 'text_to_video', 'image_to_video', 'video_to_video', 'video_upscale'].map(
    (path): PartnerSubmit => ({
      path: `/v1/${path}`,
      modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
      prompt: {
        loc: ['promptText'],
        read: (body) => body['promptText'],
        optionalFor: () => path === 'image_to_video' || path === 'video_upscale',
      },
      refuses: ({ 'x-runway-version': version }) =>
        version === '2024-11-06'
          ? undefined
          : { status: 400, body: { error: 'X-Runway-Version must be set to a known version.' } },
      answer: ({ generation }) => said('submit-accepted', { '/id': generation.id }),
    }),
  ),
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { error: 'Internal server error' } },
  },
  policyRefusal: null,
  fieldErrors,
  exampleFieldError: { loc: ['duration'], msg: 'Invalid input', type: 'invalid_union' },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/v1/tasks/:id',
      role: 'poll',
      answer: taskOf,
      unknown: () => said('poll-lost'),
    },
  ],
  cancel: {
    method: 'DELETE',
    path: '/v1/tasks/:id',
    answer: (verdict) => (verdict === 'too_late' ? said('cancel-too-late') : { status: 204, body: '' }),
    unknown: () => said('cancel-too-late'),
  },
  asset: { path: '/files/:id/:file' },
};

function fieldErrors(errors: FieldError[]): Reply {
  const issues = errors.map(({ type, loc, msg }) => ({ code: type, path: loc, message: msg }));
  return said('submit-rejected-fields', { '/issues': issues });
}

function taskOf(view: View): Reply {
  const { generation, assets } = view;
  const about = { '/id': generation.id, '/createdAt': new Date(generation.atMs).toISOString() };
  const file = generation.path.endsWith('image') ? '0.png' : '0.mp4';
  const output = [`${assets}/files/${generation.id}/${file}?_jwt=e30`];
  return momentOf(view, {
    queued: () => said('poll-throttled', about),
    running: () => said('poll-running', about),
    unknown: () => said('poll-unknown-word', about),
    failed: (failure) => failures[failure],
    empty: () => said('poll-succeeded-without-result', about),
    succeeded: () => said('poll-succeeded', { ...about, '/output': output }),
    canceled: () => said('poll-canceled', about),
  });
}
