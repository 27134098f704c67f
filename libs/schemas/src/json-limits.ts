import {
  closeBrace,
  closeBracket,
  colon,
  endOfText,
  JsonTokens,
  openBrace,
  openBracket,
} from './json-tokens.js';

export type JsonExcess = 'too_deep' | 'too_many_keys' | 'too_many_containers';

/** A container is an array or an object: an empty one takes twenty times its text once parsed. */
export interface JsonLimits {
  depth: number;
  keys: number;
  containers: number;
}

/** Which limit JSON text exceeds, found before anything parses it. Text that is not JSON gets no particular answer. */
export function jsonExcess(json: Uint8Array, limits: JsonLimits): JsonExcess | null {
  const tokens = new JsonTokens(json);
  let depth = 0;
  let keys = 0;
  let containers = 0;
  while (tokens.next() !== endOfText) {
    switch (tokens.kind) {
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > limits.depth) return 'too_deep';
        containers += 1;
        if (containers > limits.containers) return 'too_many_containers';
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        break;
      case colon:
        keys += 1;
        if (keys > limits.keys) return 'too_many_keys';
        break;
      default:
    }
  }
  return null;
}
