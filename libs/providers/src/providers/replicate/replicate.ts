import type { ProviderDefinition } from '../../contract.js';
import { envelope } from '../../encodings.js';
import { job } from '../../job.js';
import { inputLines } from './input-lines.js';

/** Replicate: the caller's own object inside `{"input": …}`; polled and cancelled by the URLs of the reply. */
export const replicate: ProviderDefinition = {
  name: 'replicate',
  defaultBase: 'https://api.replicate.com/v1',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      submit: { encode: envelope('input') },
      handle: { getUrl: { at: '/urls/get', url: true }, cancelUrl: { at: '/urls/cancel', url: true } },
      poll: {
        call: ({ getUrl }) => ({ method: 'GET', url: getUrl }),
        status: '/status',
        statuses: {
          starting: 'queued',
          processing: 'running',
          succeeded: 'succeeded',
          failed: 'failed',
          canceled: 'canceled',
        },
        everyMs: 1000,
      },
      cancel: {
        call: ({ cancelUrl }) => ({ method: 'POST', url: cancelUrl }),
        replies: [
          { where: '/status', is: 'succeeded', answer: 'too_late' },
          { where: '/status', is: 'failed', answer: 'too_late' },
        ],
      },
      needs: ['/output'],
      fields: inputLines,
      rules: [
        {
          phase: 'poll',
          where: '/error',
          is: /\(E00[56]\)|flagged as sensitive|NSFW content/i,
          class: 'content_policy',
        },
        { phase: 'poll', where: '/error', is: /\(E9(243|825)\)/, class: 'rejected_input' },
        // Its time was over before it began.
        { phase: 'poll', where: '/status', is: 'aborted', class: 'partner_timeout' },
        { phase: 'poll', where: '/data_removed', is: true, class: 'partner_failed' },
      ],
    }),
};
