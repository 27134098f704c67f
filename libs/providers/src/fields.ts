import type { FieldError } from '#errors';

import { type Json, type JsonPointer, valueAt } from '#schemas';
import { cut, publicSentence, publicText } from './public-text.js';

const maxTextLength = 1024;
const deepest = 8;
const maxEntries = 100;

type JsonObject = { [key: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A copy that is safe to echo: long strings (a base64 image) are cut and deep or wide values end early, so
 * that a partner's reply cannot make ours unboundedly large.
 */
function echo(value: Json, depth = 0): Json {
  if (typeof value === 'string') {
    return value.length > maxTextLength ? `${cut(value, maxTextLength)}…` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return '…';
  if (Array.isArray(value)) return value.slice(0, maxEntries).map((element) => echo(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxEntries)
      .map(([key, member]) => [key, echo(member, depth + 1)]),
  );
}

function location(loc: Json | undefined): (string | number)[] {
  const path = (Array.isArray(loc) ? loc : []).filter(
    (segment) => typeof segment === 'string' || typeof segment === 'number',
  );
  return path[0] === 'body' ? path : ['body', ...path];
}

function entry(detail: JsonObject): FieldError {
  return {
    loc: location(detail['loc']),
    msg: publicText(typeof detail['msg'] === 'string' ? detail['msg'] : ''),
    type: typeof detail['type'] === 'string' ? detail['type'] : 'bad_request',
    ...(isObject(detail['ctx']) && { ctx: echo(detail['ctx']) as JsonObject }),
    ...(detail['input'] !== undefined && { input: echo(detail['input']) }),
  };
}

/** The failing fields that an error body names; none, or undefined, when it names none. */
export type FieldReader = (body: Json) => readonly FieldError[] | undefined;

/**
 * What a partner says about one field, its words cleaned; `path` is the field's place in the caller's object, `ctx`
 * the constraint that it violates.
 */
export const fieldError = (
  path: readonly (string | number)[],
  msg: Json | undefined,
  type: Json | undefined,
  ctx: Readonly<Record<string, Json>> = {},
): FieldError => ({
  loc: ['body', ...path],
  msg: (path.length === 0 ? publicSentence : publicText)(typeof msg === 'string' ? msg : ''),
  type: typeof type === 'string' || typeof type === 'number' ? String(type) : 'bad_request',
  ...(Object.keys(ctx).length > 0 && { ctx: echo(ctx) as JsonObject }),
});

/** `width`, `/image/0/url`, `items[2].url`: the segments of a field's name, numbers for list places. */
export const pathOf = (name: string): (string | number)[] =>
  name
    .split(/[./[\]]+/)
    .filter((segment) => segment !== '')
    .map((segment) => (/^\d{1,6}$/.test(segment) ? Number(segment) : segment));

/**
 * For a partner that words a rejection as one sentence, mostly with a code, and perhaps names the field. Of several
 * places the first that holds something counts.
 */
export const sentenceFields =
  (places: {
    msg: JsonPointer | readonly JsonPointer[];
    type?: JsonPointer | readonly JsonPointer[];
    field?: JsonPointer;
  }): FieldReader =>
  (body) => {
    const at = (several: JsonPointer | readonly JsonPointer[] = []) =>
      [several]
        .flat()
        .map((place) => valueAt(body, place))
        .find((found) => found != null);
    const [msg, field] = [at(places.msg), at(places.field)];
    if (typeof msg !== 'string') return undefined;
    return [fieldError(typeof field === 'string' ? pathOf(field) : [], msg, at(places.type))];
  };

/** What the partner's own reader finds, else FastAPI's; no more entries than fit an answer, undefined for none. */
export function fieldErrors(body: Json | undefined, read?: FieldReader): FieldError[] | undefined {
  if (body === undefined) return undefined;
  const entries = (read?.(body) ?? fastApiFields(body))?.slice(0, maxEntries);
  return entries && entries.length > 0 ? entries : undefined;
}

/**
 * The failing fields of a FastAPI error body: `detail` is a list of `{loc, msg, type, ctx?, input?}`, passed on
 * without its documentation `url`, or one sentence about the whole body. Undefined when it is neither.
 */
const fastApiFields: FieldReader = (body) => {
  const detail = isObject(body) ? body['detail'] : undefined;
  if (typeof detail === 'string')
    return [{ loc: ['body'], msg: publicSentence(detail), type: 'bad_request' }];
  if (!Array.isArray(detail)) return undefined;
  return detail.filter(isObject).map(entry);
};
