import { type Json, valuesAt } from '#schemas';
import { type AccountReports, isDocumented } from './account.js';
import type { Condition, Phase } from './condition.js';
import type { FailureClass, HttpReply } from './contract.js';
import { inlineFile } from './inline-file.js';
import { isPruned, isSuccess } from './reply.js';

/** Whether the call may be repeated. */
export const ruleRetries = {
  never: 'The run ends.',
  same_call: 'The poll or fetch is repeated; of a submission it is the last word.',
  limited: 'It is repeated too, but three such replies in a row end the run.',
  not_accepted: 'The provider did not take the call, be it a submission: it is made again.',
} as const;

/** Maps replies to what became of the run. */
export interface Rule extends Condition {
  class: FailureClass | 'canceled';
  /** Left out, `never`. */
  retry?: keyof typeof ruleRetries;
}

function isValue(found: Json, wanted: Condition['is']): boolean {
  if (found === null || wanted === undefined) return found !== null;
  if (typeof wanted !== 'object') return found === wanted;
  return (typeof found === 'string' || typeof found === 'number') && wanted.test(String(found));
}

export function holds(rule: Condition, phase: Phase, reply: HttpReply, json: Json | undefined): boolean {
  if (rule.phase !== undefined && ![rule.phase].flat().includes(phase)) return false;
  if (rule.http === 'error' ? isSuccess(reply) : rule.http !== undefined && rule.http !== reply.status) {
    return false;
  }
  const { where, header, unless } = rule;
  if (
    unless !== undefined &&
    json !== undefined &&
    [unless].flat().some((place) => holdsAnything(json, place))
  )
    return false;
  if (header !== undefined && !isValue(reply.headers[header] ?? null, rule.is)) return false;
  if (where === undefined) return true;
  return (
    json !== undefined &&
    [where].flat().some((place) => valuesAt(json, place).some((found) => isValue(found, rule.is)))
  );
}

/** Whether any value at the place is more than null, an empty text, or a data: URL without data. */
export const holdsAnything = (json: Json, place: string): boolean =>
  valuesAt(json, place).some((found) =>
    typeof found === 'string' ? found.trim() !== '' && !isEmptyFile(found.trim()) : found !== null,
  );

/** Longer than the head of any data: URL. */
const maxEmptyFile = 2000;

const isEmptyFile = (text: string): boolean =>
  text.length < maxEmptyFile && /^data:/i.test(text) && inlineFile(text) === undefined;

/** Whether the result stands at one of the places. It may be the part that was too large to be parsed. */
export const holdsResult = (reply: HttpReply, json: Json, places: readonly string[]): boolean =>
  isPruned(reply) || places.some((place) => holdsAnything(json, place));

/** The first rule that holds; order is the provider's own. */
export const firstRule = (
  rules: readonly Rule[],
  phase: Phase,
  reply: HttpReply,
  json: Json | undefined,
): Rule | undefined => rules.find((rule) => holds(rule, phase, reply, json));

/** Account trouble ends a submission, but not a generation: it goes on while the key or the balance is put right. */
export const accountRules = (reports: AccountReports): Rule[] =>
  Object.values(reports)
    .filter(isDocumented)
    .flat()
    .map(({ phase, http, where, header, is, unless }): Rule => ({
      phase,
      http,
      where,
      header,
      is,
      unless,
      class: 'provider_account',
      retry: 'same_call',
    }));
