import type { Rule } from '../../rules.js';

const where = '/base_resp/status_code';

/** MiniMax answers HTTP 200 whatever happened, and says the rest by this code; 0 means that all went well. */
export const outcomeRules: readonly Rule[] = [
  { where, is: /^102[67]$/, class: 'content_policy' },
  { where, is: /^(2013|1042|1043|1044|2037|2038|2039|20132)$/, class: 'rejected_input' },
  { where, is: /^(1004|1008|2049)$/, class: 'partner_account' },
  { where, is: /^(1002|1039|1041|2056)$/, class: 'partner_unavailable', retry: 'again' },
  // Of a submission the last word; of a poll or fetch nothing but that this one failed.
  { where, is: 1001, phase: 'submit', class: 'partner_timeout' },
  { where, is: 1001, class: 'partner_timeout', retry: 'same_call' },
  { where, is: /^[1-9]/, phase: 'submit', class: 'partner_failed' },
  { where, is: /^[1-9]/, class: 'partner_failed', retry: 'same_call' },
];
