import type { ResultPhase } from './fixtures.js';

type Row = [status: number, failureClass: string, retry: string];

const submit: Row[] = [
  [301, 'provider_failed', 'never'],
  [400, 'rejected_input', 'never'],
  [401, 'provider_account', 'never'],
  [402, 'provider_account', 'never'],
  [403, 'provider_account', 'never'],
  [404, 'model_gone', 'never'],
  [405, 'provider_failed', 'never'],
  [408, 'provider_timeout', 'never'],
  [413, 'rejected_input', 'never'],
  [415, 'rejected_input', 'never'],
  [422, 'rejected_input', 'never'],
  [429, 'provider_unavailable', 'new_submit'],
  [500, 'provider_failed', 'never'],
  [502, 'provider_failed', 'never'],
  [504, 'provider_timeout', 'never'],
  // The submission may have been accepted: a failure that keeps the caller's idempotency key, never "try again later".
  [425, 'provider_failed', 'never'],
  [529, 'provider_failed', 'never'],
];
const poll: Row[] = [
  [302, 'provider_failed', 'same_call'],
  [401, 'provider_account', 'same_call'],
  [403, 'provider_account', 'same_call'],
  [408, 'provider_timeout', 'same_call'],
  [425, 'provider_unavailable', 'same_call'],
  [429, 'provider_unavailable', 'same_call'],
  [500, 'provider_failed', 'same_call'],
  [502, 'provider_failed', 'same_call'],
  [503, 'provider_unavailable', 'same_call'],
  [504, 'provider_timeout', 'same_call'],
  [529, 'provider_unavailable', 'same_call'],
];
const fetch: Row[] = [
  ...poll.filter(([status]) => [408, 425, 429].includes(status) || status >= 500),
  [401, 'provider_account', 'same_call'],
  [402, 'provider_account', 'same_call'],
  [403, 'provider_account', 'same_call'],
  [410, 'provider_failed', 'never'],
  [422, 'rejected_input', 'never'],
];

/** The meaning of each status at every provider, unless the body says otherwise. */
export const statusDefaults: Record<ResultPhase, Row[]> = { submit, poll, fetch };
