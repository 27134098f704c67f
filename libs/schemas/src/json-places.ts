import { type Json, pointerSegments } from './json-pointer.js';
import {
  closeBrace,
  closeBracket,
  comma,
  endOfText,
  JsonTokens,
  openBrace,
  openBracket,
} from './json-tokens.js';

/** Where a value stands in JSON text: the offsets of its first byte and of what follows its last one. */
export interface JsonPlace {
  start: number;
  end: number;
}

/** What is left of a pointer on the way down; nothing when the value is the one it points to. */
type Rest = readonly string[];

/**
 * Where the values stand that the pointers reach (a segment `*` stands for every element), in the order in which they
 * end. The text is valid JSON and is not parsed: what is around the values stays as it is, numbers keep their
 * digits. It is read once, and only as deep as the longest pointer.
 */
export function placesOf(json: Uint8Array, pointers: readonly string[]): JsonPlace[] {
  const tokens = new JsonTokens(json);
  const places: JsonPlace[] = [];
  const read = (rests: readonly Rest[]): void => {
    const { start, kind } = tokens;
    const leading = rests.filter((rest) => rest.length > 0);
    if (leading.length > 0 && (kind === openBrace || kind === openBracket)) {
      const isNamed = leading.some(([segment]) => segment !== '*');
      readMembers(json, tokens, (nameOf) => {
        const name = isNamed ? nameOf() : '*';
        read(leading.filter(([segment]) => segment === '*' || segment === name).map((rest) => rest.slice(1)));
      });
    } else tokens.skipValue();
    if (leading.length < rests.length) places.push({ start, end: tokens.end });
  };
  tokens.next();
  read(pointers.map(pointerSegments));
  return places;
}

/** The members of the object that starts at `from`, in the order of the text, which is valid JSON. */
export function membersOf(json: Uint8Array, from = 0): (JsonPlace & { name: string })[] {
  const tokens = new JsonTokens(json, from);
  const members: (JsonPlace & { name: string })[] = [];
  tokens.next();
  readMembers(json, tokens, (nameOf) => {
    const { start } = tokens;
    tokens.skipValue();
    members.push({ name: nameOf(), start, end: tokens.end });
  });
  return members;
}

/**
 * Reads the object or list whose opening is the current token. `readValue` is called at the first token of each
 * value and leaves the last one of it; an element's name is its index.
 */
function readMembers(json: Uint8Array, tokens: JsonTokens, readValue: (nameOf: () => string) => void): void {
  const isObject = tokens.kind === openBrace;
  for (let index = 0; ; index += 1) {
    tokens.next();
    if (tokens.kind === closeBrace || tokens.kind === closeBracket || tokens.kind === endOfText) return;
    const { start, end } = tokens;
    if (isObject) {
      tokens.next();
      tokens.next();
    }
    readValue(() => (isObject ? stringAt(json, { start, end }) : String(index)));
    if (tokens.next() !== comma) return;
  }
}

/** The text of an object with these members first, and every byte of its own as it was. */
export function withMembersFirst(json: Uint8Array, members: Readonly<Record<string, Json>>): Uint8Array {
  const added = JSON.stringify(members).slice(1, -1);
  if (added === '') return json;
  const tokens = new JsonTokens(json);
  tokens.next();
  const { end } = tokens;
  const isEmpty = tokens.next() === closeBrace;
  return Buffer.concat([
    json.subarray(0, end),
    Buffer.from(isEmpty ? added : `${added},`),
    json.subarray(end),
  ]);
}

/** The text of the value that stands there. */
export const textAt = (json: Uint8Array, { start, end }: JsonPlace): string =>
  Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('utf8');

/** The string that stands there. */
export const stringAt = (json: Uint8Array, place: JsonPlace): string =>
  JSON.parse(textAt(json, place)) as string;

/** The text with other strings at these places, which come in its order. */
export function replaceStrings(
  json: Uint8Array,
  replacements: readonly (JsonPlace & { text: string })[],
): Buffer {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of replacements) {
    parts.push(json.subarray(from, start), Buffer.from(JSON.stringify(text)));
    from = end;
  }
  return Buffer.concat([...parts, json.subarray(from)]);
}
