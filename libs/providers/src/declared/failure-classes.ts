import type { Rule } from '../rules.js';

/** What a reply may mean, and what the caller gets then. */
export const failureClasses = {
  rejected_input: '422 `invalid_input` with the fields',
  content_policy: '400 `content_policy_violation`; billed where the model’s row says so',
  partner_failed: '502 `provider_error`',
  partner_timeout: '504 `provider_timeout`',
  partner_unavailable:
    '503 `service_unavailable` once the time budget is spent, if the call may be made again',
  partner_account: '502 `provider_error`, and the operator an alert: our key or balance there is refused',
  model_gone: '502 `provider_error`: the partner does not know the model of the row',
  unreadable: '502 `provider_error`: the reply cannot be understood',
  canceled: '409 if the caller cancelled the run, otherwise 502 `provider_error`',
} as const satisfies Record<Rule['class'], string>;
