import type { FailureClass, ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job, upstream } from '../../job.js';
import { hs256 } from '../../jwt.js';
import type { Rule } from '../../rules.js';

/** `code` of a refused submission. What is not listed is read by its HTTP status. */
const codes = {
  partner_account: [1000, 1001, 1002, 1003, 1004, 1100, 1101, 1102, 1103, 1304],
  rejected_input: [1200, 1201],
  model_gone: [1202, 1203],
  content_policy: [1300, 1301],
  partner_timeout: [5002],
} as const satisfies Partial<Record<FailureClass, readonly number[]>>;

const lifeS = 1800;
/** The partner's clock may be behind ours. */
const leewayS = 5;

/** The secret is `access key:secret key`; each call carries a token that is minted from them. */
function auth(secret: string, nowMs: number): Record<string, string> {
  const [accessKey = '', secretKey = ''] = secret.split(':', 2);
  const nowS = Math.floor(nowMs / 1000);
  const token = hs256(secretKey, { iss: accessKey, exp: nowS + lifeS, nbf: nowS - leewayS });
  return { authorization: `Bearer ${token}` };
}

/** Kling: submit, poll the same path by id. A code in the body says what went wrong. */
export const kling: ProviderDefinition = {
  name: 'kling',
  defaultBase: 'https://api-singapore.klingai.com',
  submitTimeoutMs: 30_000,
  create: (base) =>
    job({
      base,
      auth,
      submit: { url: (run) => `${base}/v1/${upstream(run, 'path')}` },
      handle: { id: { at: '/data/task_id' }, path: { upstream: 'path' } },
      poll: {
        call: ({ id, path }) => ({ method: 'GET', url: `${base}/v1/${path}/${encodeURIComponent(id)}` }),
        status: '/data/task_status',
        statuses: { submitted: 'queued', processing: 'running', succeed: 'succeeded', failed: 'failed' },
        everyMs: 5000,
      },
      resultAt: ['/data/task_result/videos/*/url', '/data/task_result/images/*/url'],
      fields: sentenceFields({ msg: '/message', type: '/code' }),
      rules: [
        ...Object.entries(codes).flatMap(([failure, listed]) =>
          listed.map((code): Rule => ({
            phase: 'submit',
            where: '/code',
            is: code,
            class: failure as keyof typeof codes,
          })),
        ),
        // Their rate and our concurrency there, whatever the status of the reply.
        {
          phase: 'submit',
          where: '/code',
          is: /^130[23]$/,
          class: 'partner_unavailable',
          retry: 'not_accepted',
        },
        { phase: 'poll', where: '/data/task_status_msg', is: /risk control/i, class: 'content_policy' },
      ],
    }),
};
