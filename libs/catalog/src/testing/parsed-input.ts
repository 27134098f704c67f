import { jsonExcess, JsonIndex } from '#schemas';
import type { ParsedInput } from '../check-input.js';

/** The parsed body of a call, from JSON text or from a value. */
export function parsedInput(given: string | object): ParsedInput {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const json = Buffer.from(text);
  const index = new JsonIndex(json);
  jsonExcess(json, { depth: Infinity, keys: Infinity, containers: Infinity }, index);
  return { body: JSON.parse(text) as Record<string, unknown>, index };
}
