import { Verbatim } from '../../json-text.js';
import type { FieldError, Partner, PartnerCancel, Reply, View } from '../../partner.js';
import { resultOf } from './result.js';
import { modelErrors, policyError, requestError } from './errors.js';

/**
 * fal's queue: submit, poll `status_url`, fetch `response_url`, cancel with PUT. All three URLs come with the
 * reply, carry owner and app only, and live on the API's own host; files live on another one.
 */
export const fal: Partner = {
  name: 'fal',
  authorized: (headers) => /^Key \S+/.test(headers.authorization ?? ''),
  submits: [
    {
      path: '/*',
      modelOf: (params) => {
        const path = (params['*'] ?? '').replace(/\/$/, '');
        return /^[\w.-]+(\/[\w.-]+)+$/.test(path) ? path : undefined;
      },
      prompt: { loc: ['body', 'prompt'], read: (body) => body['prompt'] },
      answer: (view) => ({
        status: 200,
        body: { status: 'IN_QUEUE', ...identity(view), queue_position: 0 },
      }),
    },
  ],
  refusals: {
    unauthorized: { status: 401, body: { detail: 'Cannot access application without a valid key.' } },
    no_credit: {
      status: 403,
      body: {
        detail: 'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
      },
    },
    throttled: { status: 429, body: { detail: 'Too many requests' } },
    unavailable: requestError(503, 'runner_scheduling_failure', 'No runner is available'),
    broken: requestError(500, 'internal_error', 'Internal server error'),
  },
  policyRefusal: (prompt) => modelErrors([policyError(prompt)]),
  fieldErrors: (errors: FieldError[]) => modelErrors(errors),
  exampleFieldError: {
    type: 'less_than_equal',
    loc: ['body', 'num_images'],
    msg: 'Input should be less than or equal to 4',
    input: 40,
    ctx: { le: 4 },
  },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/:owner/:app/requests/:id/status',
      role: 'poll',
      answer: statusOf,
      unknown: notFound,
    },
    {
      listener: 'api',
      method: 'GET',
      path: '/:owner/:app/requests/:id',
      role: 'result',
      answer: resultOf,
      unknown: notFound,
    },
  ],
  cancel: { method: 'PUT', path: '/:owner/:app/requests/:id/cancel', ...cancelReplies() },
  asset: { path: '/files/:id/:file' },
};

function identity({ generation, control, api }: View): object {
  const [owner, app] = generation.model.split('/');
  const base = `${api}/${owner}/${app}/requests/${generation.id}`;
  return {
    request_id: control.has('int64_id') ? new Verbatim(generation.id) : generation.id,
    response_url: base,
    status_url: `${base}/status`,
    cancel_url: `${base}/cancel`,
  };
}

function statusOf(view: View): Reply {
  const { generation, phase, control } = view;
  if (phase === 'queued')
    return { status: 202, body: { status: 'IN_QUEUE', ...identity(view), queue_position: 0 } };
  if (phase === 'running') {
    const status = control.has('unknown_status') ? 'WARMING_UP' : 'IN_PROGRESS';
    return { status: 202, body: { status, ...identity(view), logs: [] } };
  }
  const trouble =
    phase === 'canceled'
      ? { error: 'Request was cancelled by the client', error_type: 'client_cancelled' }
      : phase === 'failed' && control.has('job_failed')
        ? { error: 'The runner failed', error_type: 'runner_server_error' }
        : {};
  return {
    status: 200,
    body: {
      status: 'COMPLETED',
      ...identity(view),
      logs: [],
      metrics: { inference_time: generation.takesMs / 1000 },
      ...trouble,
    },
  };
}

function cancelReplies(): Pick<PartnerCancel, 'answer' | 'unknown'> {
  return {
    answer: (verdict, before) => {
      if (verdict === 'too_late') return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
      if (verdict === 'canceled' && before === 'queued') return { status: 200, body: { status: 'OK' } };
      return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
    },
    unknown: () => ({ status: 404, body: { status: 'NOT_FOUND' } }),
  };
}

function notFound(): Reply {
  return { status: 404, body: { detail: 'Request not found' } };
}
