import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import { protocols } from '../../protocols.js';
import type { Rule } from '../../rules.js';

const where = '/base_resp/status_code';

/** MiniMax answers HTTP 200 whatever happened, and says the rest by this code; 0 means that all went well. */
const outcomeRules: readonly Rule[] = [
  { where, is: /^102[67]$/, class: 'content_policy' },
  { where, is: /^(2013|1042|1043|1044|2037|2038|2039|20132)$/, class: 'rejected_input' },
  { where, is: /^(1004|1008|2049)$/, class: 'partner_account' },
  { where, is: /^(1002|1039|1041|2056)$/, class: 'partner_unavailable', retry: 'not_accepted' },
  // Of a submission the last word; of a poll or fetch nothing but that this one failed.
  { where, is: 1001, phase: 'submit', class: 'partner_timeout' },
  { where, is: 1001, class: 'partner_timeout', retry: 'same_call' },
  { where, is: /^[1-9]/, phase: 'submit', class: 'partner_failed' },
  { where, is: /^[1-9]/, class: 'partner_failed', retry: 'same_call' },
];

/** MiniMax: audio comes with the reply; videos are polled for, and their file is fetched by an id of its own. */
export const minimax: ProviderDefinition = {
  name: 'minimax',
  defaultBase: 'https://api.minimax.io/v1',
  submitTimeoutMs: 300_000,
  create(base) {
    const common = {
      base,
      fields: sentenceFields({ msg: '/base_resp/status_msg', type: '/base_resp/status_code' }),
      rules: outcomeRules,
    };
    const get = (path: string, name: string, id: string) =>
      ({ method: 'GET', url: `${base}/${path}?${name}=${encodeURIComponent(id)}` }) as const;
    return protocols({
      audio: job({ ...common, resultAt: ['/data/audio'] }),
      video: job({
        ...common,
        handle: { taskId: { at: '/task_id' }, fileId: { at: '/file_id', polled: true } },
        poll: {
          call: ({ taskId }) => get('query/video_generation', 'task_id', taskId),
          status: '/status',
          statuses: {
            Preparing: 'queued',
            Queueing: 'queued',
            Processing: 'running',
            Success: 'succeeded',
            Fail: 'failed',
          },
          everyMs: 5000,
        },
        fetch: { call: ({ fileId }) => get('files/retrieve', 'file_id', fileId) },
        resultAt: ['/file/download_url'],
      }),
    });
  },
};
