import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** A refused submission names its reason in one place, a failed run in another. */
const where = ['/reason', '/err_code'] as const;

/** Vidu: submit, then poll the run's creations. */
export const vidu: ProviderDefinition = {
  name: 'vidu',
  defaultBase: 'https://api.vidu.com/ent/v2',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      auth: (secret) => ({ authorization: `Token ${secret}` }),
      handle: { id: { at: '/task_id' } },
      poll: {
        call: ({ id }) => ({ method: 'GET', url: `${base}/tasks/${encodeURIComponent(id)}/creations` }),
        status: '/state',
        statuses: {
          created: 'queued',
          queueing: 'queued',
          processing: 'running',
          success: 'succeeded',
          failed: 'failed',
          cancelled: 'canceled',
        },
        everyMs: 5000,
      },
      cancel: {
        call: ({ id }) => ({
          method: 'POST',
          url: `${base}/tasks/${encodeURIComponent(id)}/cancel`,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify({ id })),
        }),
        replies: [{ http: 400, answer: 'too_late' }],
      },
      resultAt: ['/creations/*/url'],
      fields: sentenceFields({ msg: '/message', type: '/reason' }),
      rules: [
        { where, is: /PolicyViolation$|^AuditSubmitIllegal$/, class: 'content_policy' },
        { where, is: 'CreditInsufficient', class: 'partner_account' },
        { where, is: 'ModelUnavailable', class: 'model_gone' },
        // Of fields, of the size of an image, and of what was found in one.
        { where, is: /^(BadRequest$|Field|Image|PageSize)/, class: 'rejected_input' },
        { where: '/err_code', is: 'UserCancelled', class: 'canceled' },
      ],
    }),
};
