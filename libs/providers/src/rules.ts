import type { FailureClass, HttpReply, Json, ProviderFailure } from './contract.js';
import { type Pointer, valuesAt } from './pointer.js';
import { isSuccess } from './reply.js';

/** Which of a run's calls a reply answers. */
export type Phase = 'submit' | 'poll' | 'fetch';

/**
 * Maps replies to what became of the run. Every condition that is given must hold: `phase`; `http`, one status
 * or `error` for any that is not 2xx; `where`, a place in the JSON body that holds a value, or, with `is`, one
 * of the values there equals or matches it. `retry` is `never` unless said otherwise.
 */
export interface Rule {
  phase?: Phase;
  http?: number | 'error';
  where?: Pointer;
  is?: string | number | boolean | RegExp;
  class: FailureClass | 'canceled';
  retry?: ProviderFailure['retry'];
  lost?: true;
}

function isValue(found: Json, wanted: Rule['is']): boolean {
  if (wanted === undefined) return found !== null;
  return wanted instanceof RegExp ? typeof found === 'string' && wanted.test(found) : found === wanted;
}

function holds(rule: Rule, phase: Phase, reply: HttpReply, json: Json | undefined): boolean {
  if (rule.phase !== undefined && rule.phase !== phase) return false;
  if (rule.http === 'error' ? isSuccess(reply) : rule.http !== undefined && rule.http !== reply.status) {
    return false;
  }
  if (rule.where === undefined) return true;
  return json !== undefined && valuesAt(json, rule.where).some((found) => isValue(found, rule.is));
}

/** The first rule that holds; order is the partner declaration's own. */
export const firstRule = (
  rules: readonly Rule[],
  phase: Phase,
  reply: HttpReply,
  json: Json | undefined,
): Rule | undefined => rules.find((rule) => holds(rule, phase, reply, json));
