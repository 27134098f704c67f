import { isUtf8 } from 'node:buffer';
import { RouterError } from '#errors';
import { type JsonExcess, jsonExcess } from '#schemas';
import { tooLarge } from './body-stream.js';

const limits = { depth: 64, keys: 10_000, containers: 1_000_000 };

/** A body up to this size may be parsed in the event loop: with few values that takes a few milliseconds. */
export const smallBytes = 64 * 1024;
export const maxSmallValues = 2000;

const excessTexts: Record<JsonExcess, string> = {
  too_deep: `The body nests deeper than ${limits.depth} levels.`,
  too_many_keys: `The body has more than ${limits.keys} keys.`,
  too_many_containers: `The body has more than ${limits.containers} arrays and objects.`,
};

/**
 * A parsed copy of the body, for validation only: the bytes themselves are what is forwarded. Throws
 * `invalid_input`, 400, for what is not one JSON object within the limits.
 */
export function parseInput(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.');
  const excess = jsonExcess(bytes, limits);
  if (excess !== null) throw malformed(excessTexts[excess]);
  const value = parsed(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/** The same for what is small: more bytes are a 413, more values a 400. */
export function parseSmall(bytes: Buffer): Record<string, unknown> {
  if (bytes.length > smallBytes) throw tooLarge(smallBytes);
  const value = parseInput(bytes);
  if (hasManyValues(value)) throw tooManyValues();
  return value;
}

/** Whether so many values are in it that what reads them all belongs in a thread. */
export function hasManyValues(value: unknown): boolean {
  const open = [value];
  for (let count = 0; count <= maxSmallValues; count += 1) {
    if (open.length === 0) return false;
    const next = open.pop();
    if (typeof next === 'object' && next !== null)
      for (const member of Object.values(next)) open.push(member);
  }
  return true;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser's own message quotes the body.
    throw malformed('The body is not valid JSON.');
  }
}

const malformed = (detail: string) => new RouterError('invalid_input', detail);

export const tooManyValues = (): RouterError => malformed(`The body has more than ${maxSmallValues} values.`);
