import type { FieldError } from '#errors';

import type { Json } from './contract.js';
import { publicSentence, publicText } from './public-text.js';

const longestText = 1024;
const deepest = 8;
const mostEntries = 100;

type JsonObject = { [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A copy that is safe to echo: long strings (a base64 image) are cut and deep or wide values end early, so
 * that a partner's reply cannot make ours unboundedly large.
 */
function echo(value: Json, depth = 0): Json {
  if (typeof value === 'string') {
    return value.length > longestText ? `${value.slice(0, longestText)}…` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return '…';
  if (Array.isArray(value)) return value.slice(0, mostEntries).map((element) => echo(element, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostEntries)
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

/**
 * The failing fields of a FastAPI error body: `detail` is a list of `{loc, msg, type, ctx?, input?}`, passed on
 * without its documentation `url`, or one sentence about the whole body. Undefined when it is neither.
 */
export function fieldErrors(body: Json | undefined): FieldError[] | undefined {
  const detail = isObject(body) ? body['detail'] : undefined;
  if (typeof detail === 'string')
    return [{ loc: ['body'], msg: publicSentence(detail), type: 'bad_request' }];
  if (!Array.isArray(detail)) return undefined;
  const entries = detail.slice(0, mostEntries).filter(isObject).map(entry);
  return entries.length > 0 ? entries : undefined;
}
