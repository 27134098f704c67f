import type { ProviderDefinition } from '../../contract.js';
import { job, upstream } from '../../job.js';

/** Black Forest Labs: submit, then poll the URL that the reply names, mostly on a sibling host of its cluster. */
export const bfl: ProviderDefinition = {
  name: 'bfl',
  defaultBase: 'https://api.bfl.ai',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      credentialOrigins: [/^https:\/\/(?:[a-z0-9-]+\.)*bfl\.ai$/],
      auth: (secret) => ({ 'x-key': secret }),
      submit: { url: (run) => `${base}/v1/${upstream(run, 'path')}` },
      handle: {
        id: { at: '/id' },
        // Left out by the partner when the input carries a webhook.
        pollUrl: { at: '/polling_url', url: true, optional: true },
      },
      poll: {
        call: ({ id, pollUrl }) => ({
          method: 'GET',
          url: pollUrl ?? `${base}/v1/get_result?id=${encodeURIComponent(id)}`,
        }),
        status: '/status',
        statuses: { Pending: 'running', Ready: 'succeeded', Error: 'failed', Failed: 'failed' },
        everyMs: 500,
      },
      resultAt: ['/result/sample'],
      rules: [
        { where: '/status', is: /^\s*(request|content) moderated\s*$/i, class: 'content_policy' },
        {
          phase: 'poll',
          where: '/status',
          is: /^\s*task not found\s*$/i,
          class: 'partner_failed',
          retry: 'limited',
        },
      ],
    }),
};
