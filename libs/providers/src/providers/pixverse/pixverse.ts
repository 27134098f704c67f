import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import type { Rule } from '../../rules.js';

const where = '/ErrCode';

/** Refusals come with HTTP 200 and a code; 0 means that there is none. */
const rules: readonly Rule[] = [
  { where, is: /^(500054|500063)$/, class: 'content_policy' },
  { phase: 'poll', where: '/Resp/status', is: 7, class: 'content_policy' },
  { where, is: /^(500044|500069)$/, class: 'partner_unavailable', retry: 'not_accepted' },
  { where, is: /^(500020|500090)$/, class: 'partner_account' },
  // A poll has no input but the run's id: whatever else is said against it, the run was not found.
  { phase: 'poll', where, is: /^[1-9]/, class: 'partner_failed', retry: 'limited' },
  { where, is: /^(4000\d\d|50003[0-3]|500042|500071)$/, class: 'rejected_input' },
  { where, is: /^[1-9]/, class: 'partner_failed' },
];

/** PixVerse: submit, then poll by an id of 64 bits; every call carries a trace id of its own. */
export const pixverse: ProviderDefinition = {
  name: 'pixverse',
  defaultBase: 'https://app-api.pixverse.ai/openapi/v2',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      auth: (secret) => ({ 'api-key': secret }),
      uniqueHeader: 'ai-trace-id',
      handle: { id: { at: '/Resp/video_id' } },
      poll: {
        call: ({ id }) => ({ method: 'GET', url: `${base}/video/result/${encodeURIComponent(id)}` }),
        status: '/Resp/status',
        statuses: { 1: 'succeeded', 2: 'queued', 3: 'queued', 5: 'running', 6: 'failed', 8: 'failed' },
        everyMs: 5000,
      },
      resultAt: ['/Resp/url'],
      fields: sentenceFields({ msg: '/ErrMsg', type: where }),
      rules,
    }),
};
