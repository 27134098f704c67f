import type { ProviderDefinition } from '../../contract.js';
import { settled } from '../../encodings.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import { protocols } from '../../protocols.js';
import { responses } from '../../responses.js';
import type { Rule } from '../../rules.js';

const policy = /SensitiveContentDetected|RiskDetection/;

const rules: readonly Rule[] = [
  { where: '/error/code', is: policy, class: 'content_policy' },
  { where: '/error/code', is: /^(InvalidParameter|MissingParameter)/, class: 'rejected_input' },
  // Each image of a reply may have been refused for itself; only when all were has the run failed.
  {
    where: '/data/*/error/code',
    is: policy,
    unless: ['/data/*/url', '/data/*/b64_json'],
    class: 'content_policy',
  },
  { phase: 'poll', where: '/status', is: 'expired', class: 'partner_timeout' },
];

/** ByteDance's Ark: images (Seedream) and text (Seed) come with the reply, videos (Seedance) are polled for. */
export const bytedance: ProviderDefinition = {
  name: 'bytedance',
  defaultBase: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  submitTimeoutMs: 540_000,
  create(base) {
    const common = {
      base,
      fields: sentenceFields({ msg: '/error/message', type: '/error/code', field: '/error/param' }),
      rules,
    };
    const videoUrl = (id: string) => `${base}/contents/generations/tasks/${encodeURIComponent(id)}`;
    return protocols({
      image: job({
        ...common,
        submit: { encode: settled(['stream']) },
        resultAt: ['/data/*/url', '/data/*/b64_json'],
      }),
      text: job({
        ...common,
        submit: { encode: responses.encode },
        resultAt: responses.resultAt,
        rules: [...responses.rules, ...rules],
      }),
      video: job({
        ...common,
        handle: { id: { at: '/id' } },
        poll: {
          call: ({ id }) => ({ method: 'GET', url: videoUrl(id) }),
          status: '/status',
          statuses: {
            queued: 'queued',
            running: 'running',
            succeeded: 'succeeded',
            failed: 'failed',
            cancelled: 'canceled',
          },
          everyMs: 5000,
        },
        // Takes a run out of the partner's queue; one that has begun goes on.
        cancel: {
          call: ({ id }) => ({ method: 'DELETE', url: videoUrl(id) }),
          replies: [{ http: 409, answer: 'too_late' }],
        },
        resultAt: ['/content/video_url'],
      }),
    });
  },
};
