import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

const where = '/code';

/** Tripo: one address for every kind of run, which the body names; submit, then poll. */
export const tripo: ProviderDefinition = {
  name: 'tripo',
  defaultBase: 'https://api.tripo3d.ai/v2/openapi',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      handle: { id: { at: '/data/task_id' } },
      poll: {
        call: ({ id }) => ({ method: 'GET', url: `${base}/task/${encodeURIComponent(id)}` }),
        status: '/data/status',
        statuses: {
          queued: 'queued',
          running: 'running',
          success: 'succeeded',
          failed: 'failed',
          cancelled: 'canceled',
        },
        everyMs: 5000,
      },
      resultAt: ['/data/output/*'],
      fields: sentenceFields({ msg: '/message', type: where }),
      rules: [
        { where: '/data/status', is: 'banned', class: 'content_policy' },
        { where: '/data/status', is: 'expired', class: 'partner_timeout' },
        { where, is: 2000, class: 'partner_unavailable', retry: 'not_accepted' },
        { where, is: 2001, class: 'partner_failed', retry: 'limited', phase: 'poll' },
        { where, is: /^200[234]$/, class: 'rejected_input' },
        { where, is: 2008, class: 'content_policy' },
        { where, is: 2010, class: 'partner_account' },
      ],
    }),
};
