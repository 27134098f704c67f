import { concerns, type Control } from './control.js';
import type { Reply } from './provider.js';
import type { Replies } from './replies.js';
import type { Simulation } from './simulation.js';

export function countAttempt({ attempts }: Simulation, key: string): number {
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  return attempt;
}

const refusals = [
  ['401', 401],
  ['402', 402],
  ['locked', 402],
  ['429', 429],
  ['503', 503],
  ['500_submit', 500],
  ['502_submit', 502],
  ['504_submit', 504],
  ['field_error', 422],
] as const;

/** The provider's rejection of the submission, or undefined if it accepts it. */
export function refusalOf(replies: Replies, control: Control, attempt: number): Reply | undefined {
  const [, status] = refusals.find(([name]) => concerns(control, name, attempt)) ?? [];
  if (status !== undefined) return replies.refusal(status, control);
  const trouble = control.get('account');
  if (trouble !== undefined) return replies.accountTrouble(trouble);
  return control.has('policy_submit') ? replies.policyRefusal : undefined;
}
