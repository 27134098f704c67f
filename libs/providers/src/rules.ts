import { type Json, valuesAt } from '#schemas';
import {
  type AccountReports,
  type AccountTrouble,
  accountTroubles,
  type Condition,
  isDocumented,
  type Phase,
} from './condition.js';
import type { FailureClass, HttpReply } from './contract.js';
import { inlineFile } from './inline-file.js';
import { isPruned, isSuccess } from './reply.js';

/** Whether the call may be repeated. */
export const ruleRetries = {
  never: 'The run ends.',
  same_call: 'A poll or fetch is repeated. After a submission, the run ends.',
  capped: 'Like `same_call`, but three such replies in a row end the run.',
  not_accepted: 'The provider did not accept the call, so it is repeated, even a submission.',
} as const;

/** Maps replies to the outcome of the run. */
export interface Rule extends Condition {
  class: FailureClass | 'canceled';
  /** Which problem a `provider_account` is. By default, the status says it. */
  account?: AccountTrouble;
  /** By default, `never`. */
  retry?: keyof typeof ruleRetries;
}

function isValue(found: Json, { equals, matches }: Condition): boolean {
  if (matches) return (typeof found === 'string' || typeof found === 'number') && matches.test(String(found));
  return equals === undefined ? found !== null : found === equals;
}

export function holds(rule: Condition, phase: Phase, reply: HttpReply, json: Json | undefined): boolean {
  const { phase: phases, http, path, header, unless } = rule;
  const isIn = (place: string) => valuesAt(json, place).some((found) => isValue(found, rule));
  return (
    (phases === undefined || [phases].flat().includes(phase)) &&
    (http === undefined || (http === 'error' ? !isSuccess(reply) : http === reply.status)) &&
    (unless === undefined || ![unless].flat().some((place) => holdsAnything(json, place))) &&
    (header === undefined || isValue(reply.headers[header] ?? null, rule)) &&
    (path === undefined || [path].flat().some(isIn))
  );
}

/** Whether there is content at the place: a number, `true`, a text that is not blank or a data: URL with data. */
export const holdsAnything = (json: Json | undefined, place: string): boolean =>
  valuesAt(json, place).some(hasContent);

/** Lists and objects have the content of their values. */
function hasContent(value: Json): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !isEmptyFile(value.trim());
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasContent);
  return value !== null && value !== false;
}

/** Longer than the head of any data: URL. */
const maxEmptyFile = 2000;

const isEmptyFile = (text: string): boolean =>
  text.length < maxEmptyFile && /^data:/i.test(text) && inlineFile(text) === undefined;

/** Whether there is content at one of the places. It may also be in a part that was too large to be parsed. */
export const holdsResult = (reply: HttpReply, json: Json, places: readonly string[]): boolean =>
  isPruned(reply) || places.some((place) => holdsAnything(json, place));

/** The first rule that holds, in the provider's order. */
export const firstRule = (
  rules: readonly Rule[],
  phase: Phase,
  reply: HttpReply,
  json: Json | undefined,
): Rule | undefined => rules.find((rule) => holds(rule, phase, reply, json));

/** An account problem ends a submission, but not a generation, which continues while the key or balance is fixed. */
export const accountRules = (reports: AccountReports): Rule[] =>
  accountTroubles.flatMap((account) => {
    const listed = reports[account];
    if (!isDocumented(listed)) return [];
    return listed.map(({ source: _source, date: _date, ...condition }): Rule => ({
      ...condition,
      class: 'provider_account',
      account,
      retry: 'same_call',
    }));
  });
