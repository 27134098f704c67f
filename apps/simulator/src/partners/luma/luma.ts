import { bearer } from '../../keys.js';
import { momentOf } from '../../moments.js';
import type { Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('luma');

const reasons = {
  policy_submit: 'Advanced prompt moderation failed',
  policy_output: 'Frame moderation failed',
  field_output: 'Failed to read user input frames',
  job_failed: 'Job failed',
};

/** Luma: one form of body for a generation whatever it is doing, polled by id. */
export const luma: Partner = {
  name: 'luma',
  authorized: bearer,
  submits: ['/generations/video', '/generations/image'].map((path): PartnerSubmit => ({
    path,
    modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
    prompt: { loc: ['body', 'prompt'], read: (body) => body['prompt'] },
    answer: (view) => said('submit-accepted', about(view)),
  })),
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: { status: 500, body: { detail: 'Internal Server Error' } },
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: (errors) => said('submit-rejected-fields', { '/detail': errors }),
  exampleFieldError: {
    loc: ['body', 'duration'],
    msg: "Input should be '5s' or '9s'",
    type: 'enum',
    input: '7s',
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/generations/:id',
      role: 'poll',
      answer: progress,
      unknown: () => said('poll-lost'),
    },
  ],
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function about({ generation }: View): Record<`/${string}`, unknown> {
  return { '/id': generation.id, '/model': generation.model, '/request/prompt': generation.prompt };
}

function progress(view: View): Reply {
  const files = `${view.assets}/files/${view.generation.id}`;
  const assets = { video: `${files}/0.mp4`, image: `${files}/0.png`, progress_video: null };
  return momentOf(view, {
    queued: () => said('submit-accepted', about(view)),
    running: () => said('poll-running', about(view)),
    unknown: () => said('poll-unknown-word', about(view)),
    failed: (failure) => said('poll-failed', { ...about(view), '/failure_reason': reasons[failure] }),
    empty: () => said('poll-succeeded-without-result', about(view)),
    succeeded: () => said('poll-succeeded', { ...about(view), '/assets': assets }),
  });
}
