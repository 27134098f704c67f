import type { FailureClass } from '../../contract.js';
import type { Rule } from '../../rules.js';

/** `error_type` of a request that fal's own infrastructure ended. */
const requestErrors = {
  request_timeout: 'partner_timeout',
  startup_timeout: 'partner_timeout',
  runner_scheduling_failure: 'partner_unavailable',
  runner_connection_timeout: 'partner_unavailable',
  runner_disconnected: 'partner_unavailable',
  runner_connection_refused: 'partner_unavailable',
  runner_connection_error: 'partner_unavailable',
  runner_incomplete_response: 'partner_failed',
  runner_server_error: 'partner_failed',
  internal_error: 'partner_failed',
  client_disconnected: 'partner_failed',
  client_cancelled: 'canceled',
} as const satisfies Record<string, FailureClass | 'canceled'>;

/** `detail[].type` of a model's error that is neither the policy's nor about the caller's fields; every other type is. */
const modelErrors = {
  generation_timeout: 'partner_timeout',
  internal_server_error: 'partner_failed',
  downstream_service_error: 'partner_failed',
  downstream_service_unavailable: 'partner_failed',
  no_media_generated: 'partner_failed',
} as const satisfies Record<string, FailureClass>;

const modelError = ([type, failure]: [string, FailureClass]): Rule[] =>
  (['submit', 'fetch'] as const).map((phase) => ({
    phase,
    http: 'error',
    where: '/detail/*/type',
    is: type,
    class: failure,
  }));

/**
 * A model's output is its own and may hold fields of these names, so only error replies are read. Nor are polls:
 * an error there is the status route's, not the run's. A finished request is fetched whatever its status body
 * says, except a cancelled one, because only the response tells the failing fields.
 */
export const outcomeRules: readonly Rule[] = [
  { phase: 'poll', where: '/error_type', is: 'client_cancelled', class: 'canceled' },
  ...modelError(['content_policy_violation', 'content_policy']),
  // The model's own verdict, or a moment of fal's: only a result that stays a 500 has failed.
  { phase: 'fetch', http: 500, where: '/detail', class: 'partner_failed', retry: 'limited' },
  ...Object.entries(modelErrors).flatMap(modelError),
  ...Object.entries(requestErrors).map(([type, failure]): Rule => ({
    phase: 'fetch',
    http: 'error',
    where: '/error_type',
    is: type,
    class: failure,
    // The request was finished: a runner that cannot be reached may be a moment of fal's, and it is paid for.
    ...(failure === 'partner_unavailable' && { retry: 'limited' as const }),
  })),
  // Its status said that it had ended: once or twice is a moment, for ever is a fault.
  {
    phase: 'fetch',
    http: 400,
    where: '/detail',
    is: /still in progress/i,
    class: 'partner_failed',
    retry: 'limited',
  },
];
