import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** A refused call names its code at the top, a failed run beside its status. */
const where = ['/code', '/data/error_code'] as const;

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
        { where: '/code', is: 2000, class: 'partner_unavailable', retry: 'not_accepted' },
        // Of a poll they are about its own id.
        { phase: 'poll', where: '/code', is: /^(100[34]|2001)$/, class: 'partner_failed', retry: 'limited' },
        { where, is: 2008, class: 'content_policy' },
        { where, is: 2010, class: 'partner_account' },
        // The version of the model stands in the row.
        { where, is: /^201[57]$/, class: 'model_gone' },
        { where, is: /^(100[34]|200[1-4]|201[89])$/, class: 'rejected_input' },
      ],
    }),
};
