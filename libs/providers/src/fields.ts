import type { FieldError } from '#errors';

import { isExact, type Json, type JsonPointer, shortened, valueAt } from '#schemas';
import { publicSentence, publicText } from './public-text.js';

const maxTextLength = 1024;
const deepest = 8;
const maxEntries = 100;
const maxNameLength = 200;
const maxSegments = 20;
/** Limit on the total length of all echoes in an answer. */
const maxEchoLength = 64 * 1024;
/** Limit on the total length of an error body that is passed on. */
const maxBodyLength = 4 * 1024;

/** The remaining room for echoes. */
interface Room {
  left: number;
}

type JsonObject = { [key: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A copy that is safe to echo: long strings (such as a base64 image) and deep or wide values are truncated, so that a
 * provider's reply cannot make ours arbitrarily large.
 */
function echo(value: Json, room: Room, textOf = (text: string) => text, depth = 0): Json {
  if (typeof value === 'string') {
    const text = shortened(value && textOf(value), Math.min(maxTextLength, Math.max(room.left, 0)));
    room.left -= text.length;
    return text;
  }
  room.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest || room.left <= 0) return '…';
  const within = (member: Json) => echo(member, room, textOf, depth + 1);
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(within);
  const members = Object.entries(value).slice(0, maxEntries);
  return Object.fromEntries(
    members.map(([name, member]) => {
      const key = shortened(name, maxNameLength);
      room.left -= key.length;
      return [key, within(member)];
    }),
  );
}

/** The cleaner for the provider's words about one field or, if it names no field, about the whole request. */
const cleanerFor = (loc: FieldError['loc']) => (loc.length > 1 ? publicText : publicSentence);

/** The entry within our limits, whatever the provider wrote. A number that would lose precision is omitted. */
function bounded({ loc, msg, type, ctx, input }: FieldError, room: Room): FieldError {
  const constraint = ctx && echo(ctx as Json, room, cleanerFor(loc));
  const exact = Object.entries(isObject(constraint) ? constraint : {}).filter(([, value]) => isExact(value));
  const rejected = input === undefined ? undefined : echo(input as Json, room);
  return {
    loc: loc
      .slice(0, maxSegments)
      .map((segment) => (typeof segment === 'string' ? shortened(segment, maxNameLength) : segment)),
    msg,
    type: shortened(type, maxNameLength),
    ...(exact.length > 0 && { ctx: Object.fromEntries(exact) }),
    ...(rejected !== undefined && isExact(rejected) && { input: rejected }),
  };
}

function location(loc: Json | undefined): (string | number)[] {
  const path = (Array.isArray(loc) ? loc : []).filter(
    (segment): segment is string | number => typeof segment === 'string' || Number.isSafeInteger(segment),
  );
  return path[0] === 'body' ? path : ['body', ...path];
}

function entry(detail: JsonObject): FieldError {
  return {
    loc: location(detail['loc']),
    msg: publicText(typeof detail['msg'] === 'string' ? detail['msg'] : ''),
    type: typeof detail['type'] === 'string' ? detail['type'] : 'bad_request',
    ...(isObject(detail['ctx']) && { ctx: detail['ctx'] }),
    ...(detail['input'] !== undefined && { input: detail['input'] }),
  };
}

/** The invalid fields that an error body names. Empty or undefined if it names none. */
export type FieldReader = (body: Json) => readonly FieldError[] | undefined;

/**
 * A provider's error about one field, with cleaned words. `path` is the field's place in the caller's object, `ctx` the
 * constraint that it violates.
 */
export const fieldError = (
  path: readonly (string | number)[],
  msg: Json | undefined,
  type: Json | undefined,
  ctx: Readonly<Record<string, Json>> = {},
): FieldError => {
  const loc = ['body', ...path];
  return {
    loc,
    msg: cleanerFor(loc)(typeof msg === 'string' ? msg : ''),
    type:
      typeof type === 'string' || (typeof type === 'number' && isExact(type)) ? String(type) : 'bad_request',
    ...(Object.keys(ctx).length > 0 && { ctx: { ...ctx } }),
  };
};

/** The segments of a field name such as `width`, `/image/0/url` or `items[2].url`; list indexes become numbers. */
export const pathOf = (name: string): (string | number)[] =>
  name
    .split(/[./[\]]+/)
    .filter((segment) => segment !== '')
    .map((segment) => (/^\d{1,6}$/.test(segment) ? Number(segment) : segment));

/**
 * For a provider that rejects an input with one sentence, usually a code, and sometimes the name of the field. The first
 * place that has a value counts.
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

/** An error body with its texts cleaned. Undefined for anything but a JSON object, and for a large one. */
export function publicBody(body: Json | undefined): Json | undefined {
  if (!isObject(body)) return undefined;
  const room = { left: maxBodyLength };
  const cleaned = echo(body, room, publicSentence);
  return room.left > 0 ? cleaned : undefined;
}

/** The fields that the provider's own reader or, by default, FastAPI's finds. Bounded; undefined if there are none. */
export function fieldErrors(body: Json | undefined, read?: FieldReader): FieldError[] | undefined {
  if (body === undefined) return undefined;
  const room = { left: maxEchoLength };
  const entries = (read?.(body) ?? fastApiFields(body))
    ?.slice(0, maxEntries)
    .map((found) => bounded(found, room));
  return entries && entries.length > 0 ? entries : undefined;
}

/**
 * The invalid fields of a FastAPI error body: `detail` is a list of `{loc, msg, type, ctx?, input?}`, passed on
 * without its documentation `url`, or one sentence about the whole body. Undefined if it is neither.
 */
const fastApiFields: FieldReader = (body) => {
  const detail = isObject(body) ? body['detail'] : undefined;
  if (typeof detail === 'string')
    return [{ loc: ['body'], msg: publicSentence(detail), type: 'bad_request' }];
  if (!Array.isArray(detail)) return undefined;
  return detail.filter(isObject).map(entry);
};
