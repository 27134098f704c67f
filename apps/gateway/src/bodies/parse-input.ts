import type { ParsedInput } from '#catalog';
import { RouterError } from '#errors';
import { type JsonExcess, jsonExcess, JsonIndex } from '#schemas';
import { tooLarge } from './body-stream.js';

export const inputLimits = { depth: 64, keys: 10_000, containers: 1_000_000 };

/** A body up to this size, with few values, may be parsed in the event loop: that takes a few milliseconds. */
export const smallBytes = 64 * 1024;
export const maxSmallValues = 2000;

const excessTexts: Record<JsonExcess, string> = {
  too_deep: `The body is nested deeper than ${inputLimits.depth} levels.`,
  too_many_keys: `The body has more than ${inputLimits.keys} keys.`,
  too_many_containers: `The body has more than ${inputLimits.containers} arrays and objects.`,
};

/** Decodes and validates UTF-8. A byte order mark is kept, so that the parser rejects it. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the body for validation only; the bytes themselves are forwarded. They are read twice here, by the tokeniser
 * and by the parser. Throws `invalid_input`, 400, for anything but one JSON object within the limits.
 */
export function parseInput(bytes: Buffer): ParsedInput {
  const text = unlessBroken(() => decoder.decode(bytes), 'The body is not valid UTF-8.');
  const index = new JsonIndex(bytes);
  const excess = jsonExcess(bytes, inputLimits, index);
  if (excess !== null) throw tooComplex(excess);
  const body: unknown = unlessBroken(() => JSON.parse(text), 'The body is not valid JSON.');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw malformed('The body must be a JSON object.');
  }
  return { body: body as Record<string, unknown>, index };
}

/** Parses a small body. Too many bytes are a 413, too many values a 400. */
export function parseSmall(bytes: Buffer): Record<string, unknown> {
  if (bytes.length > smallBytes) throw tooLarge(smallBytes);
  const { body, index } = parseInput(bytes);
  if (index.values > maxSmallValues) throw tooManyValues();
  return body;
}

/** The parser's own message is left out, because it may quote the body. */
function unlessBroken<T>(read: () => T, detail: string): T {
  try {
    return read();
  } catch {
    throw malformed(detail);
  }
}

const malformed = (detail: string) => new RouterError('invalid_input', detail);

export const tooComplex = (excess: JsonExcess): RouterError => malformed(excessTexts[excess]);

export const tooManyValues = (): RouterError => malformed(`The body has more than ${maxSmallValues} values.`);
