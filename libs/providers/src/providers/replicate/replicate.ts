import { valueAt } from '#schemas';
import type { AccountReports } from '../../condition.js';
import type { ProviderDefinition } from '../../contract.js';
import { envelope } from '../../encodings.js';
import { fieldError, type FieldReader, pathOf } from '../../fields.js';
import { job } from '../../job.js';

const line = /^- (?:input\.)?([\w.[\]]{1,200}): (.+)$/;

/** `detail` of a rejected input, a line `- input.width: …` per field or one sentence; or the `error` of a failed run. */
const inputLines: FieldReader = (body) => {
  const detail = valueAt(body, '/detail') ?? valueAt(body, '/error');
  if (typeof detail !== 'string') return undefined;
  const found = detail.split('\n').flatMap((text) => {
    const [, name, msg] = line.exec(text) ?? [];
    return name === undefined ? [] : [fieldError(pathOf(name), msg, 'invalid')];
  });
  return found.length > 0 ? found : [fieldError([], detail, undefined)];
};

const httpDocument = 'https://replicate.com/docs/reference/http';
const date = '2026-11-25';

const account = {
  key: [{ http: 401, source: httpDocument, date }],
  balance: [{ http: 402, source: httpDocument, date }],
  quota: { notDocumentedIn: httpDocument, date },
} as const satisfies AccountReports;

/**
 * Replicate: the caller's object is sent as `{"input": …}`, with the `version` from the rows of community models (whose
 * path is `predictions`). Runs are polled and cancelled at the URLs in the reply.
 */
export const replicate: ProviderDefinition = {
  name: 'replicate',
  defaultBase: 'https://api.replicate.com/v1',
  submitTimeoutMs: 30_000,
  account,
  check: {
    url: '{base}/account',
    ok: [{ http: 200, path: '/username' }],
    source:
      'https://raw.githubusercontent.com/api-evangelist/replicate/main/collections/replicate-accounts-api.opencollection.json',
    date: '2026-11-26',
  },
  create: (base) =>
    job({
      base,
      account,
      submit: { encode: envelope('input', ['version']) },
      handle: {
        getUrl: { path: '/urls/get', url: true },
        cancelUrl: { path: '/urls/cancel', url: true, optional: true },
      },
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
        call: ({ cancelUrl }) => (cancelUrl === undefined ? undefined : { method: 'POST', url: cancelUrl }),
        replies: [
          { path: '/status', equals: 'succeeded', answer: 'too_late' },
          { path: '/status', equals: 'failed', answer: 'too_late' },
        ],
      },
      resultPaths: ['/output'],
      fields: inputLines,
      rules: [
        {
          phase: 'poll',
          path: '/error',
          matches: /\(E00[56]\)|flagged as sensitive|NSFW content/i,
          class: 'content_policy',
        },
        { phase: 'poll', path: '/error', matches: /\(E9(243|825)\)/, class: 'rejected_input' },
        // The run expired before it started.
        { phase: 'poll', path: '/status', equals: 'aborted', class: 'provider_timeout' },
        { phase: 'poll', path: '/data_removed', equals: true, class: 'provider_failed' },
      ],
    }),
};
