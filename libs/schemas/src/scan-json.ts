const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const colon = 0x3a;

export type JsonExcess = 'too_deep' | 'too_many_keys' | 'too_many_containers';

/** The most that is borne. A container is an array or an object: an empty one takes twenty times its text once parsed. */
export interface JsonBounds {
  depth: number;
  keys: number;
  containers: number;
}

/**
 * Looks over JSON text before anything parses it: how deep it nests, how many keys and containers it has. One loop,
 * no recursion, nothing allocated. Text that is not JSON gets no particular answer: the parser refuses it.
 */
export function scanJson(bytes: Uint8Array, most: JsonBounds): JsonExcess | null {
  let depth = 0;
  let keys = 0;
  let containers = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at);
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > most.depth) return 'too_deep';
        containers += 1;
        if (containers > most.containers) return 'too_many_containers';
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        break;
      case colon:
        keys += 1;
        if (keys > most.keys) return 'too_many_keys';
        break;
      default:
    }
  }
  return null;
}

/** The index of the closing quote of the string that opens there; past the end when there is none. */
export function endOfString(bytes: Uint8Array, opening: number): number {
  let at = opening + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
