import type { FieldError } from '#errors';
import { isExact, pointerSegments, shortened } from '#schemas';
import type { ErrorObject } from 'ajv';
import { settleUnions } from './settle-unions.js';
import { precedence, worded } from './vocabulary.js';

const maxEchoLength = 1024;
const maxEchoWeight = 4096;

/** One entry per failing field, in the order the schema lists them. */
export function fieldErrors(errors: readonly ErrorObject[], body: unknown): FieldError[] {
  const fields = new Map<string, { rank: number; field: FieldError }>();
  for (const error of settleUnions(errors)) {
    const field = fieldError(error, body);
    const key = JSON.stringify(field.loc);
    const rank = precedence.indexOf(error.keyword);
    const known = fields.get(key);
    if (known === undefined) fields.set(key, { rank, field });
    else if (rank < known.rank) Object.assign(known, { rank, field });
  }
  return [...fields.values()].map(({ field }) => field);
}

function fieldError(error: ErrorObject, body: unknown): FieldError {
  const { type, msg, ctx, child } = worded(error);
  const loc = ['body', ...locate(error.instancePath, body), ...(child === undefined ? [] : [child])];
  // A missing field echoes the object that lacks it; an extra one echoes itself.
  const rejected =
    error.keyword === 'additionalProperties' && child !== undefined
      ? (error.data as Record<string, unknown>)[child]
      : error.data;
  return { loc, msg, type, ...(ctx === undefined ? {} : { ctx }), ...echo(rejected) };
}

/** The path as the 422 body writes it: array indexes are integers, field names stay strings even if numeric. */
function locate(instancePath: string, body: unknown): (string | number)[] {
  let value = body;
  return pointerSegments(instancePath).map((segment) => {
    const isIndex = Array.isArray(value);
    value = (value as Record<string, unknown> | undefined)?.[segment];
    return isIndex ? Number(segment) : segment;
  });
}

/**
 * Long strings, mostly inline images, are cut. Objects too heavy to repeat are left out, and so are numbers that would
 * be repeated as other ones.
 */
function echo(value: unknown): { input?: unknown } {
  if (typeof value === 'string') return { input: shortened(value, maxEchoLength) };
  return weighsAtMost(value, maxEchoWeight, 1) && isExact(value) ? { input: value } : {};
}

/**
 * Whether the parsed value weighs at most `limit`: one for each value in it, plus `letter` for each letter of
 * a string. Stops as soon as it does not, so that a huge value costs no more than the limit.
 */
export function weighsAtMost(value: unknown, limit: number, letter: number): boolean {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    weight += 1 + (typeof next === 'string' ? next.length * letter : 0);
    if (weight + open.length > limit) return false;
    if (Array.isArray(next)) {
      if (next.length > limit) return false;
      open.push(...(next as unknown[]));
    } else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        weight += key.length * letter;
        if (open.length > limit) return false;
        open.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return true;
}
