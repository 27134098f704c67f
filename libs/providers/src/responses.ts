import { settled } from './encodings.js';
import type { Rule } from './rules.js';

const text = '/output/*/content/*/text';

/** What a code of OpenAI's API, and of those made like it, says of a refusal by policy. */
export const policyCode =
  /policy|^moderation_blocked$|^invalid_prompt$|SensitiveContentDetected|RiskDetection/;

/** A response that has ended without an answer is a success by its status. */
const rules: readonly Rule[] = [
  { http: 200, where: '/error/code', is: policyCode, class: 'content_policy' },
  { http: 200, where: '/error/code', is: /image/i, class: 'rejected_input' },
  { http: 200, where: '/status', is: /^(failed|cancelled)$/, class: 'partner_failed' },
  {
    http: 200,
    where: '/incomplete_details/reason',
    is: 'content_filter',
    unless: text,
    class: 'content_policy',
  },
  { http: 200, where: '/output/*/content/*/refusal', unless: text, class: 'content_policy' },
];

/** The Responses API, which several partners speak: the response comes whole, its text among the parts of `output`. */
export const responses = {
  encode: settled(['stream', 'background']),
  /** One that says nothing has an empty list. */
  resultAt: ['/output'],
  rules,
} as const;
