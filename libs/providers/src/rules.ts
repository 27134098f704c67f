import { type Json, type JsonPointer, valuesAt } from '#schemas';
import type { FailureClass, HttpReply } from './contract.js';
import { isPruned, isSuccess } from './reply.js';

/** Which of a run's calls a reply answers. An upload of a file comes before the submission. */
export type Phase = 'upload' | 'submit' | 'poll' | 'fetch';

/** Whether the call may be repeated. */
export const ruleRetries = {
  never: 'The run ends.',
  same_call: 'The poll or fetch is repeated; of a submission it is the last word.',
  limited: 'It is repeated too, but three such replies in a row end the run.',
  not_accepted: 'The partner did not take the call, be it a submission: it is made again.',
} as const;

/** A regular expression, of whatever engine. */
interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Maps replies to what became of the run. Every condition that is given must hold: `phase`; `http`, one status
 * or `error` for any that is not 2xx; `where`, places in the JSON body, or `header`, that hold a value, or,
 * with `is`, one of the values there equals or matches it; `unless`, places that hold nothing.
 */
export interface Rule {
  phase?: Phase | readonly Phase[];
  http?: number | 'error';
  where?: JsonPointer | readonly JsonPointer[];
  header?: string;
  is?: string | number | boolean | Pattern;
  unless?: JsonPointer | readonly JsonPointer[];
  class: FailureClass | 'canceled';
  /** Left out, `never`. */
  retry?: keyof typeof ruleRetries;
}

function isValue(found: Json, wanted: Rule['is']): boolean {
  if (found === null || wanted === undefined) return found !== null;
  if (typeof wanted !== 'object') return found === wanted;
  return (typeof found === 'string' || typeof found === 'number') && wanted.test(String(found));
}

function holds(rule: Rule, phase: Phase, reply: HttpReply, json: Json | undefined): boolean {
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

/** Whether any value at the place is more than null or an empty text. */
export const holdsAnything = (json: Json, place: JsonPointer): boolean =>
  valuesAt(json, place).some((found) => found !== null && found !== '');

/** Whether the result stands at one of the places. It may be the part that was too large to be parsed. */
export const holdsResult = (reply: HttpReply, json: Json, places: readonly JsonPointer[]): boolean =>
  isPruned(reply) || places.some((place) => holdsAnything(json, place));

/** The first rule that holds; order is the partner declaration's own. */
export const firstRule = (
  rules: readonly Rule[],
  phase: Phase,
  reply: HttpReply,
  json: Json | undefined,
): Rule | undefined => rules.find((rule) => holds(rule, phase, reply, json));
