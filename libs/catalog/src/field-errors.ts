import type { FieldError } from '#errors';
import { isExact, pointerFrom, pointerSegments } from '#schemas';
import type { ErrorObject } from 'ajv';
import { settleUnions } from './settle-unions.js';
import { childOf, precedence, echoed, worded } from './vocabulary.js';

const maxEchoWeight = 4096;
const maxFields = 100;
/** The most that all entries together may take, as JSON. */
const maxLength = 256 * 1024;

/**
 * One entry per failing field, in the order the schema lists them, for the first constraint that it breaks. At most 100
 * entries and 256 KiB: an entry that does not fit loses its echo first, and those behind the last one that fits are left
 * out.
 */
export function fieldErrors(errors: readonly ErrorObject[], body: unknown): FieldError[] {
  const fields: FieldError[] = [];
  let left = maxLength;
  for (const error of firstOfEachField(settleUnions(errors))) {
    const field = fieldError(error, body);
    const { input: _echo, ...bare } = field;
    const fitting = lengthOf(field) <= left ? field : bare;
    left -= lengthOf(fitting);
    if (left < 0 && fields.length > 0) break;
    fields.push(fitting);
  }
  return fields;
}

const lengthOf = (field: FieldError): number => JSON.stringify(field).length;

/** The error to report of each field, for the first hundred fields. */
function firstOfEachField(errors: readonly ErrorObject[]): Iterable<ErrorObject> {
  const fields = new Map<string, ErrorObject>();
  for (const error of errors) {
    const child = childOf(error);
    const field = child === undefined ? error.instancePath : error.instancePath + pointerFrom([child]);
    const known = fields.get(field);
    if (known === undefined ? fields.size < maxFields : rankOf(error) < rankOf(known))
      fields.set(field, error);
  }
  return fields.values();
}

const rankOf = ({ keyword }: ErrorObject): number => precedence.indexOf(keyword);

function fieldError(error: ErrorObject, body: unknown): FieldError {
  const { type, msg, ctx } = worded(error);
  const child = childOf(error);
  const path = [...locate(error.instancePath, body), ...(child === undefined ? [] : [child])];
  const loc = ['body', ...path.map((segment) => (typeof segment === 'string' ? echoed(segment) : segment))];
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
 * Long strings, mostly inline images, are echoed. Objects too heavy to repeat are left out, and so are numbers that
 * would be repeated as other ones.
 */
function echo(value: unknown): { input?: unknown } {
  if (typeof value === 'string') return { input: echoed(value) };
  return weighsAtMost(value, maxEchoWeight) && isExact(value) ? { input: value } : {};
}

/**
 * Whether the parsed value weighs at most `limit`: one for each value in it, plus one for each letter of a string or a
 * name. Stops as soon as it does not, so that a huge value costs no more than the limit.
 */
function weighsAtMost(value: unknown, limit: number): boolean {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    weight += 1 + (typeof next === 'string' ? next.length : 0);
    if (weight + open.length > limit) return false;
    if (Array.isArray(next)) {
      if (next.length > limit) return false;
      open.push(...(next as unknown[]));
    } else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        weight += key.length;
        if (open.length > limit) return false;
        open.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return true;
}
