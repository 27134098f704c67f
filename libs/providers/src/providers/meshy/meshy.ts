import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** Meshy: submit, then poll the same path with the run's id behind it. */
export const meshy: ProviderDefinition = {
  name: 'meshy',
  defaultBase: 'https://api.meshy.ai',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      handle: { id: { at: '/result' }, path: { upstream: 'path' } },
      poll: {
        call: ({ id, path }) => ({ method: 'GET', url: `${base}/${path}/${encodeURIComponent(id)}` }),
        status: '/status',
        statuses: {
          PENDING: 'queued',
          IN_PROGRESS: 'running',
          SUCCEEDED: 'succeeded',
          FAILED: 'failed',
          CANCELED: 'canceled',
        },
        everyMs: 5000,
      },
      // Models have their files by format; a rigged or moving figure has them in a result of its own.
      resultAt: ['/model_urls/*', '/result/*'],
      fields: sentenceFields({ msg: ['/message', '/task_error/message'], type: '/task_error/code' }),
      rules: [
        { phase: 'poll', where: '/task_error/code', is: 'moderation_blocked', class: 'content_policy' },
        { phase: 'poll', where: '/task_error/type', is: 'invalid_input', class: 'rejected_input' },
        { phase: 'poll', where: '/task_error/type', is: 'timeout', class: 'partner_timeout' },
      ],
    }),
};
