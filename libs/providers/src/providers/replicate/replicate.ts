import { valueAt } from '#schemas';
import type { ProviderDefinition } from '../../contract.js';
import { envelope } from '../../encodings.js';
import { fieldError, type FieldReader, pathOf } from '../../fields.js';
import { job } from '../../job.js';

const line = /^- (?:input\.)?([\w.[\]]{1,200}): (.+)$/;

/** `detail` of a refused input: a line `- input.width: …` for each field, or one sentence; a failed run's `error`. */
const inputLines: FieldReader = (body) => {
  const detail = valueAt(body, '/detail') ?? valueAt(body, '/error');
  if (typeof detail !== 'string') return undefined;
  const found = detail.split('\n').flatMap((text) => {
    const [, name, msg] = line.exec(text) ?? [];
    return name === undefined ? [] : [fieldError(pathOf(name), msg, 'invalid')];
  });
  return found.length > 0 ? found : [fieldError([], detail, undefined)];
};

/**
 * Replicate: the caller's own object inside `{"input": …}`, beside the `version` that rows of community models have
 * (their path is `predictions`); polled and cancelled by the URLs of the reply.
 */
export const replicate: ProviderDefinition = {
  name: 'replicate',
  defaultBase: 'https://api.replicate.com/v1',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      submit: { encode: envelope('input', ['version']) },
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
      resultAt: ['/output'],
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
