import { type Json, valueAt, valuesAt } from '#schemas';
import type { AccountReports } from '../../condition.js';
import type { HttpCall, ProviderDefinition } from '../../contract.js';
import { fieldError, type FieldReader, isObject } from '../../fields.js';
import { job } from '../../job.js';
import { upstream } from '../../kept-handle.js';

const headers = { 'x-runway-version': '2024-11-06' };

/** `issues[]` of a rejected body, whose other members are the constraint; without issues, the sentence. */
const issues: FieldReader = (body) => {
  const found = valuesAt(body, '/issues/*');
  if (found.length > 0) return found.filter(isObject).map(fieldOf);
  const sentence = valueAt(body, '/failure') ?? valueAt(body, '/error');
  return typeof sentence === 'string' ? [fieldError([], sentence, valueAt(body, '/failureCode'))] : undefined;
};

function fieldOf({ code, path, message, ...ctx }: Record<string, Json>) {
  const segments = (Array.isArray(path) ? path : []).filter(
    (segment) => typeof segment === 'string' || typeof segment === 'number',
  );
  return fieldError(segments, message, code, ctx);
}

const errorDocument = 'https://docs.dev.runwayml.com/errors/errors';
const date = '2026-11-25';

const account = {
  key: [{ http: 401, source: errorDocument, date }],
  balance: [{ http: 400, path: '/error', matches: /enough credits/i, source: errorDocument, date }],
  // The daily limit of generations has the status of the rate limit, and no distinctive text.
  quota: { notDocumentedIn: errorDocument, date },
} as const satisfies AccountReports;

/** Runway: submit, then poll the task by id; every call names the API version. */
export const runway: ProviderDefinition = {
  name: 'runway',
  defaultBase: 'https://api.dev.runwayml.com',
  submitTimeoutMs: 30_000,
  account,
  check: {
    url: '{base}/v1/organization',
    headers,
    balance: { path: '/creditBalance', unit: 'credits' },
    source: 'https://mcpservers.org/agent-skills/runwayml/rw-check-org-details',
    date: '2026-11-26',
  },
  create(base) {
    const task = (method: HttpCall['method'], id: string): HttpCall => ({
      method,
      url: `${base}/v1/tasks/${encodeURIComponent(id)}`,
      headers,
    });
    return job({
      base,
      account,
      submit: { url: (run) => `${base}/v1/${upstream(run, 'path')}`, headers: () => headers },
      handle: { id: { path: '/id' } },
      poll: {
        call: ({ id }) => task('GET', id),
        status: '/status',
        statuses: {
          PENDING: 'queued',
          // Our concurrency limit is reached: the task waits in the provider's queue.
          THROTTLED: 'queued',
          RUNNING: 'running',
          SUCCEEDED: 'succeeded',
          FAILED: 'failed',
          CANCELLED: 'canceled',
        },
        everyMs: 5000,
        progress: { path: '/progress', max: 1 },
      },
      cancel: { call: ({ id }) => task('DELETE', id), replies: [{ http: 404, answer: 'too_late' }] },
      resultPaths: ['/output/*'],
      fields: issues,
      rules: [
        { phase: 'poll', path: '/failureCode', matches: /\bSAFETY\b/, class: 'content_policy' },
        { phase: 'poll', path: '/failureCode', equals: 'ASSET.INVALID', class: 'rejected_input' },
      ],
    });
  },
};
