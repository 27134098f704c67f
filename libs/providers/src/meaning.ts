import type { Json } from '#schemas';
import type { Phase } from './condition.js';
import type { HttpReply } from './contract.js';
import { ruleOfWords } from './reply-words.js';
import { firstRule, type Rule } from './rules.js';

/**
 * The meaning of a reply by the provider's account reports, its rules, and its words where both are silent. Reports come
 * before rules, except where a rule or the words say that content was refused: some providers give a refusal the status
 * and the code of a key without permission.
 */
export function meaningOf(
  account: readonly Rule[],
  rules: readonly Rule[],
  ...reply: [phase: Phase, reply: HttpReply, json: Json | undefined]
): Rule | undefined {
  const rule = firstRule(rules, ...reply);
  if (rule?.class === 'content_policy') return rule;
  const report = firstRule(account, ...reply);
  if (!report && rule) return rule;
  const words = ruleOfWords(...reply);
  return words?.class === 'content_policy' ? words : (report ?? words);
}
