import type { ProviderDefinition } from '../../contract.js';
import { job } from '../../job.js';
import { outcomeRules } from './outcome-rules.js';

/** fal's queue: submit, poll the returned status URL, then fetch the returned response URL. */
export const fal: ProviderDefinition = {
  name: 'fal',
  defaultBase: 'https://queue.fal.run',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      auth: (secret) => ({ authorization: `Key ${secret}` }),
      // A 503 comes from the door of the queue: what the queue has taken it answers with a request id.
      submit: { refusals: [503] },
      // The URLs name only owner and app, not the model's path: they are taken as given, never built.
      handle: {
        statusUrl: { at: '/status_url', url: true },
        responseUrl: { at: '/response_url', url: true },
        cancelUrl: { at: '/cancel_url', url: true },
      },
      poll: {
        call: ({ statusUrl }) => ({ method: 'GET', url: statusUrl }),
        status: '/status',
        statuses: { IN_QUEUE: 'queued', IN_PROGRESS: 'running', COMPLETED: 'succeeded' },
        everyMs: 750,
      },
      fetch: { call: ({ responseUrl }) => ({ method: 'GET', url: responseUrl }) },
      cancel: {
        call: ({ cancelUrl }) => ({ method: 'PUT', url: cancelUrl }),
        // Two spellings are in use: a status word, and in the per-model documents {"success": boolean}.
        replies: [
          { where: '/status', is: 'ALREADY_COMPLETED', answer: 'too_late' },
          { where: '/success', is: false, answer: 'too_late' },
          { http: 400, answer: 'too_late' },
        ],
      },
      rules: outcomeRules,
    }),
};
