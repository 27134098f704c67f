import { momentOf } from '../../moments.js';
import type { FieldError, Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';
import { accountKey, holdsGoodToken } from './token.js';

const said = recorded('kling');

const reasons = {
  policy_submit: 'Failure to pass the risk control system',
  policy_output: 'Failure to pass the risk control system',
  field_output: 'Failed to resolve the input',
  job_failed: 'Internal error',
};

const videos = ['text2video', 'image2video', 'lip-sync', 'effects', 'video-extend'].map(
  (path) => `videos/${path}`,
);
const images = ['generations', 'kolors-virtual-try-on'].map((path) => `images/${path}`);

/** Kling: a token that is minted for the call, and a code in every body. */
export const kling: Partner = {
  name: 'kling',
  authorized: holdsGoodToken,
  issueKey: () => accountKey,
  submits: [...videos, ...images].map((path): PartnerSubmit => ({
    path: `/v1/${path}`,
    modelOf: (_params, body) => (typeof body['model_name'] === 'string' ? body['model_name'] : path),
    prompt: {
      loc: ['prompt'],
      read: (body) => body['prompt'],
      optionalFor: () => path !== 'videos/text2video',
    },
    answer: ({ generation }) => said('submit-accepted', { '/data/task_id': generation.id }),
  })),
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: ([first]: FieldError[]) =>
    said('submit-rejected-fields', { '/message': `${first?.loc.join('.')}: ${first?.msg}` }),
  exampleFieldError: { loc: ['duration'], msg: "value '7' is invalid", type: 'enum' },
  calls: ['videos', 'images'].map((kind) => ({
    listener: 'api',
    method: 'GET',
    path: `/v1/${kind}/:model/:id`,
    role: 'poll',
    answer: taskOf,
    unknown: () => said('poll-lost'),
  })),
  cancel: null,
  asset: { path: '/files/:id/:file' },
};

function taskOf(view: View): Reply {
  const { generation, assets } = view;
  const about = { '/data/task_id': generation.id, '/data/created_at': generation.atMs };
  const files = `${assets}/files/${generation.id}`;
  const result = generation.path.includes('/images/')
    ? { images: [{ index: 0, url: `${files}/0.png` }] }
    : { videos: [{ id: generation.id, url: `${files}/0.mp4`, duration: '5.1' }] };
  return momentOf(view, {
    queued: () => said('submit-accepted', about),
    running: () => said('poll-running', about),
    unknown: () => said('poll-unknown-word', about),
    failed: (failure) => said('poll-failed', { ...about, '/data/task_status_msg': reasons[failure] }),
    empty: () => said('poll-succeeded-without-result', about),
    succeeded: () => said('poll-succeeded', { ...about, '/data/task_result': result }),
  });
}
