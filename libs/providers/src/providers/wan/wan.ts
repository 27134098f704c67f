import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

const policy = /^(InternalError\.Algo\.)?DataInspection|^IPInfringementSuspect/;
const status = '/output/task_status';

/** A refused call names its code at the top, a failed run inside its output. */
const where = ['/code', '/output/code'] as const;

/** Wan on Alibaba's DashScope: submit asynchronously, then poll. */
export const wan: ProviderDefinition = {
  name: 'wan',
  defaultBase: 'https://dashscope-intl.aliyuncs.com/api/v1',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      submit: { headers: () => ({ 'x-dashscope-async': 'enable' }) },
      handle: { id: { at: '/output/task_id' } },
      poll: {
        call: ({ id }) => ({ method: 'GET', url: `${base}/tasks/${encodeURIComponent(id)}` }),
        status,
        statuses: {
          PENDING: 'queued',
          RUNNING: 'running',
          SUCCEEDED: 'succeeded',
          FAILED: 'failed',
          CANCELED: 'canceled',
        },
        everyMs: 5000,
      },
      resultAt: ['/output/video_url', '/output/results/*/url'],
      fields: sentenceFields({ msg: ['/message', '/output/message'], type: where }),
      rules: [
        { where, is: policy, class: 'content_policy' },
        { where, is: /^Invalid(Parameter|URL|Image|Video|File)/, class: 'rejected_input' },
        // With HTTP 400, as if it were the caller's doing.
        { where, is: /^Arrearage/, class: 'partner_account' },
        // Of several images some may be refused; only when all are has the run failed.
        {
          where: '/output/results/*/code',
          is: policy,
          unless: '/output/results/*/url',
          class: 'content_policy',
        },
        // Said of an id that is unknown or older than a day.
        { where: status, is: 'UNKNOWN', class: 'partner_failed', retry: 'limited' },
      ],
    }),
};
