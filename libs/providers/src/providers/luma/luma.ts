import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

const moderated =
  /blacklisted words|frame moderation failed|advanced prompt moderation failed|prompt not allowed/i;

/** Luma's Dream Machine: submit, poll by id. A failed generation is refunded. */
export const luma: ProviderDefinition = {
  name: 'luma',
  defaultBase: 'https://api.lumalabs.ai/dream-machine/v1',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      handle: { id: { at: '/id' } },
      poll: {
        call: ({ id }) => ({ method: 'GET', url: `${base}/generations/${encodeURIComponent(id)}` }),
        status: '/state',
        statuses: { queued: 'queued', dreaming: 'running', completed: 'succeeded', failed: 'failed' },
        everyMs: 3000,
      },
      fields: sentenceFields({ msg: '/failure_reason' }),
      resultAt: ['/assets/video', '/assets/image'],
      rules: [
        { http: 400, where: '/detail', is: moderated, class: 'content_policy' },
        { http: 400, where: '/detail', is: /insufficient credits/i, class: 'partner_account' },
        { phase: 'poll', where: '/failure_reason', is: moderated, class: 'content_policy' },
        {
          phase: 'poll',
          where: '/failure_reason',
          is: /read user input frames/i,
          class: 'rejected_input',
        },
      ],
    }),
};
