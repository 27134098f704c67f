import type { FailureClass, ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job, upstream } from '../../job.js';
import { hs256 } from '../../jwt.js';
import { protocols } from '../../protocols.js';
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

/**
 * The secret is `access key:secret key`, and each call carries a token that is minted from them; or the one key of a
 * newer account, which is sent as it is.
 */
function auth(secret: string, nowMs: number): Record<string, string> {
  const [accessKey = '', secretKey] = secret.split(':', 2);
  if (secretKey === undefined) return { authorization: `Bearer ${secret}` };
  const nowS = Math.floor(nowMs / 1000);
  const token = hs256(secretKey, { iss: accessKey, exp: nowS + lifeS, nbf: nowS - leewayS });
  return { authorization: `Bearer ${token}` };
}

const rules: readonly Rule[] = [
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
  {
    phase: 'poll',
    where: ['/data/task_status_msg', '/data/*/message'],
    is: /risk control/i,
    class: 'content_policy',
  },
];

/**
 * Kling: submit, then poll by id; a code in the body says what went wrong. What came before 3.0 is polled at its own
 * path, and what came with it in a list of tasks of its own words.
 */
export const kling: ProviderDefinition = {
  name: 'kling',
  defaultBase: 'https://api-singapore.klingai.com',
  submitTimeoutMs: 30_000,
  create: (base) => {
    const common = { base, auth, fields: sentenceFields({ msg: '/message', type: '/code' }), rules };
    const words = { submitted: 'queued', processing: 'running', failed: 'failed' } as const;
    return protocols({
      v1: job({
        ...common,
        submit: { url: (run) => `${base}/v1/${upstream(run, 'path')}` },
        handle: { id: { at: '/data/task_id' }, path: { upstream: 'path' } },
        poll: {
          call: ({ id, path }) => ({ method: 'GET', url: `${base}/v1/${path}/${encodeURIComponent(id)}` }),
          status: '/data/task_status',
          statuses: { ...words, succeed: 'succeeded' },
          everyMs: 5000,
        },
        resultAt: [
          '/data/task_result/videos/*/url',
          '/data/task_result/images/*/url',
          '/data/task_result/series_images/*/url',
        ],
      }),
      tasks: job({
        ...common,
        handle: { id: { at: '/data/id' } },
        poll: {
          call: ({ id }) => ({ method: 'GET', url: `${base}/tasks?task_ids=${encodeURIComponent(id)}` }),
          status: '/data/0/status',
          statuses: { ...words, succeeded: 'succeeded' },
          everyMs: 5000,
        },
        resultAt: ['/data/*/outputs/*/url', '/data/*/outputs/*/watermark_url'],
      }),
    });
  },
};
