import type { ResultPhase } from './fixtures.js';

type Row = [status: number, failureClass: string, retry: string];

const submit: Row[] = [
  [301, 'partner_failed', 'never'],
  [400, 'rejected_input', 'never'],
  [401, 'partner_account', 'never'],
  [402, 'partner_account', 'never'],
  [403, 'partner_account', 'never'],
  [404, 'model_gone', 'never'],
  [405, 'partner_failed', 'never'],
  [408, 'partner_timeout', 'never'],
  [413, 'rejected_input', 'never'],
  [415, 'rejected_input', 'never'],
  [422, 'rejected_input', 'never'],
  [429, 'partner_unavailable', 'new_submit'],
  [500, 'partner_failed', 'never'],
  [502, 'partner_failed', 'never'],
  [504, 'partner_timeout', 'never'],
  // May have been accepted: reported as a failure that keeps the caller's key, never as "try again".
  [425, 'partner_failed', 'never'],
  [529, 'partner_failed', 'never'],
];
const poll: Row[] = [
  [302, 'partner_failed', 'same_call'],
  [401, 'partner_account', 'same_call'],
  [403, 'partner_account', 'same_call'],
  [408, 'partner_timeout', 'same_call'],
  [425, 'partner_unavailable', 'same_call'],
  [429, 'partner_unavailable', 'same_call'],
  [500, 'partner_failed', 'same_call'],
  [502, 'partner_failed', 'same_call'],
  [503, 'partner_unavailable', 'same_call'],
  [504, 'partner_timeout', 'same_call'],
  [529, 'partner_unavailable', 'same_call'],
];
const fetch: Row[] = [
  ...poll.filter(([status]) => [408, 425, 429].includes(status) || status >= 500),
  [401, 'partner_account', 'same_call'],
  [402, 'partner_account', 'same_call'],
  [403, 'partner_account', 'same_call'],
  [410, 'partner_failed', 'never'],
  [422, 'rejected_input', 'never'],
];

/** What a status means at every partner as long as the body says nothing. */
export const statusDefaults: Record<ResultPhase, Row[]> = { submit, poll, fetch };
