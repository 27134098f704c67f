import { valueAt, valuesAt } from '#schemas';
import type { AccountReports } from '../../condition.js';
import type { ProviderDefinition } from '../../contract.js';
import { form } from '../../encodings.js';
import { fieldError, type FieldReader } from '../../fields.js';
import { job } from '../../job.js';
import { upstream } from '../../kept-handle.js';
import { protocols } from '../../protocols.js';
import type { Rule } from '../../rules.js';

const reference = 'https://platform.stability.ai/docs/api-reference';
const date = '2026-11-25';

const account = {
  key: [{ http: 401, source: reference, date }],
  balance: [{ http: 402, source: reference, date }],
  quota: { notDocumentedIn: reference, date },
} as const satisfies AccountReports;

const rules: readonly Rule[] = [
  { http: 403, path: '/name', equals: 'content_moderation', class: 'content_policy' },
  // The reply has an image, but it is blurred.
  { http: 200, header: 'finish-reason', equals: 'CONTENT_FILTERED', class: 'content_policy' },
  { http: 200, header: 'finish-reason', matches: /^(?!SUCCESS$)/, class: 'provider_failed' },
];

/** `errors[]`, each `field: text` or a sentence. */
const fields: FieldReader = (body) =>
  valuesAt(body, '/errors/*').map((error) => {
    const text = typeof error === 'string' ? error : '';
    const [, name, msg] = /^(\w{1,60}): (.*)$/s.exec(text) ?? [];
    return fieldError(name === undefined ? [] : [name], msg ?? text, valueAt(body, '/name'));
  });

/** Stability: a form in, a file out. Slow operations are polled by id until the file is ready. */
export const stability: ProviderDefinition = {
  name: 'stability',
  defaultBase: 'https://api.stability.ai/v2beta',
  submitTimeoutMs: 120_000,
  account,
  check: {
    url: 'https://api.stability.ai/v1/user/balance',
    ok: [{ http: 200, path: '/credits' }],
    balance: { path: '/credits', unit: 'credits' },
    source: 'https://s.apifox.cn/apidoc/docs-site/3757851/api-133524603',
    date: '2026-11-26',
  },
  create(base) {
    const common = { base, account, fileResults: true, fields, rules } as const;
    const encode = form({ files: ['image', 'mask', 'init_image', 'style_image', 'audio'] });
    return protocols({
      // A JSON reply with 200 is not a file.
      now: job({
        ...common,
        submit: { encode, headers: (run) => ({ accept: upstream(run, 'accept') }) },
        resultPaths: [],
      }),
      later: job({
        ...common,
        submit: { encode },
        handle: { id: { path: '/id' }, accept: { upstream: 'accept' } },
        poll: {
          call: ({ id, accept }) => ({
            method: 'GET',
            url: `${base}/results/${encodeURIComponent(id)}`,
            headers: { accept },
          }),
          status: 'http',
          statuses: { 202: 'running', 200: 'succeeded' },
          everyMs: 10_000,
        },
        resultPaths: [],
      }),
    });
  },
};
