import { type Json, pointerSegments } from './json-pointer.js';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const backslash = 0x5c;
const endOfText = -1;

export type JsonExcess = 'too_deep' | 'too_many_keys' | 'too_many_containers';

/** Containers are arrays and objects. Once parsed, an empty one takes twenty times the memory of its text. */
interface JsonLimits {
  depth: number;
  keys: number;
  containers: number;
}

/**
 * Which limit the JSON text exceeds, checked before it is parsed. For text that is not JSON, the result is
 * arbitrary. The same pass fills `index`.
 */
export function jsonExcess(json: Uint8Array, limits: JsonLimits, index?: JsonIndex): JsonExcess | null {
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
    index?.add(tokens);
  }
  return null;
}

/** An object or array in the text. */
export interface JsonContainer {
  around: JsonContainer | undefined;
  /** The member that contains it, or its index in the array around it. Undefined for the outermost container. */
  at: JsonMember | number | undefined;
  /** The current member or array index, while the `JsonIndex` is built. */
  current: JsonMember | number | undefined;
}

/** A member of an object. The place of its value includes the surrounding white space. */
interface JsonMember extends JsonPlace {
  name: JsonPlace;
  within: JsonContainer;
}

/** The members of every object in a JSON text, in order, including duplicates. The text must be valid JSON. */
export class JsonIndex {
  readonly members: JsonMember[] = [];
  private valuesAndNames = 0;
  private container: JsonContainer | undefined;
  private lastStart = 0;
  private lastEnd = 0;

  constructor(readonly json: Uint8Array) {}

  /** The number of values in the text, including objects, arrays and all elements. */
  get values(): number {
    return this.valuesAndNames - this.members.length;
  }

  nameOf({ name }: JsonMember): string {
    return stringAt(this.json, name);
  }

  parse(member: JsonMember): unknown {
    return JSON.parse(textAt(this.json, member));
  }

  /** Adds the next token of the text. */
  add({ kind, start, end }: { kind: number; start: number; end: number }): void {
    const { container } = this;
    if (kind === openBrace || kind === openBracket) {
      const current = kind === openBrace ? undefined : 0;
      this.container = { around: container, at: container?.current, current };
    } else if (kind === colon && container) {
      const name = { start: this.lastStart, end: this.lastEnd };
      container.current = { name, within: container, start: end, end };
      this.members.push(container.current);
    } else if (container && (kind === comma || kind === closeBrace || kind === closeBracket)) {
      if (typeof container.current === 'number') container.current += 1;
      else if (container.current) container.current.end = start;
      if (kind !== comma) this.container = container.around;
    }
    if (kind === openBrace || kind === openBracket || kind === quote || classOf[kind] === literal)
      this.valuesAndNames += 1;
    this.lastStart = start;
    this.lastEnd = end;
  }
}

/** The place of a value in JSON text: the offset of its first byte, and the offset after its last byte. */
export interface JsonPlace {
  start: number;
  end: number;
}

/** The remaining segments of a pointer on the way down. Empty at the value that it points to. */
type Rest = readonly string[];

/**
 * The places of the values that the pointers match (a segment `*` matches every element), in the order in which the
 * values end. The text must be valid JSON. It is not parsed, so the text around the values stays unchanged and
 * numbers keep their digits. It is read once, and only as deep as the longest pointer. Before each member on the
 * way, `visit` gets the number of bytes so far that are outside the places. It may throw to end the search.
 */
export function placesOf(
  json: Uint8Array,
  pointers: readonly string[],
  visit?: (bytesBeside: number) => void,
): JsonPlace[] {
  const tokens = new JsonTokens(json);
  const places: JsonPlace[] = [];
  let bytesInside = 0;
  const read = (rests: readonly Rest[]): void => {
    const { start, kind } = tokens;
    const leading = rests.filter((rest) => rest.length > 0);
    if (leading.length > 0 && (kind === openBrace || kind === openBracket)) {
      const isNamed = leading.some(([segment]) => segment !== '*');
      readMembers(json, tokens, (nameOf) => {
        visit?.(tokens.start - bytesInside);
        const name = isNamed ? nameOf() : '*';
        read(leading.filter(([segment]) => segment === '*' || segment === name).map((rest) => rest.slice(1)));
      });
    } else tokens.skipValue();
    if (leading.length === rests.length) return;
    places.push({ start, end: tokens.end });
    bytesInside += tokens.end - start;
  };
  tokens.next();
  read(pointers.map(pointerSegments));
  return places;
}

/** The members of the object that starts at `from`, in order. The text must be valid JSON. */
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
 * Reads the object or array that the current token opens. It calls `readValue` at the first token of each value,
 * and `readValue` must stop at the value's last token. The name of an element is its index.
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

/** The places of strings longer than `maxBytes`, including names of members. */
export function longStringsOf(json: Uint8Array, maxBytes: number): JsonPlace[] {
  const tokens = new JsonTokens(json);
  const places: JsonPlace[] = [];
  while (tokens.next() !== endOfText) {
    const { kind, start, end } = tokens;
    if (kind === quote && end - start > maxBytes) places.push({ start, end });
  }
  return places;
}

/** Inserts members at the start of an object. The rest of the text stays unchanged. */
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

/** The text at a place. */
export const textAt = (json: Uint8Array, { start, end }: JsonPlace): string =>
  Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('utf8');

/** The string value at a place. */
export const stringAt = (json: Uint8Array, place: JsonPlace): string =>
  JSON.parse(textAt(json, place)) as string;

/** Replaces the values at these places, which must be in order, by strings. */
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

/**
 * Replaces each array or object that contains more than `maxContainers` containers, including itself, by a string.
 * Only the smallest such parts are replaced, so their siblings stay in place. The depth of the text should be
 * limited.
 */
export function prunedJson(json: Uint8Array, maxContainers: number): Buffer {
  const tokens = new JsonTokens(json);
  const open: { start: number; containers: number }[] = [];
  const pruned: JsonPlace[] = [];
  while (tokens.next() !== endOfText) {
    const { kind, start, end } = tokens;
    if (kind === openBrace || kind === openBracket) open.push({ start, containers: 1 });
    const closed = kind === closeBrace || kind === closeBracket ? open.pop() : undefined;
    if (closed === undefined) continue;
    const isPruned = closed.containers > maxContainers;
    const parent = open.at(-1);
    if (parent) parent.containers += isPruned ? 0 : closed.containers;
    if (!isPruned) continue;
    while ((pruned.at(-1)?.start ?? -1) > closed.start) pruned.pop();
    pruned.push({ start: closed.start, end });
  }
  return replaceStrings(
    json,
    pruned.map((place) => ({ ...place, text: '(left out)' })),
  );
}

const [literal, space, punctuation] = [0, 1, 2];
/** The class of each byte value. */
const classOf = new Uint8Array(256);
for (const byte of Buffer.from(' \n\r\t')) classOf[byte] = space;
for (const byte of Buffer.from('",:[]{}')) classOf[byte] = punctuation;

/**
 * Tokenizes the bytes of JSON text: brackets, braces, commas, colons, strings, and all other tokens (numbers, true,
 * false, null) as one kind. It does not recurse or allocate per token. It does not validate: text that is not JSON
 * gives some tokens and then ends.
 */
class JsonTokens {
  /** The kind of the current token, which is its first byte. -1 at the end of the text. */
  kind = endOfText as number;
  /** The offset of the current token. */
  start = 0;
  /** The offset after the current token. */
  end: number;

  private readonly json: Uint8Array;

  constructor(json: Uint8Array, from = 0) {
    // Use a plain view, because `Buffer.indexOf` is ten times slower.
    this.json = new Uint8Array(json.buffer, json.byteOffset, json.byteLength);
    // Parsers skip a byte order mark, so the offsets must skip it too.
    const isMarked = from === 0 && json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
    this.end = isMarked ? 3 : from;
  }

  /** Moves to the next token and returns its kind. */
  next(): number {
    const { json } = this;
    let at = this.end;
    while (classOf[json[at] ?? 0] === space) at += 1;
    const kind = json[at] ?? endOfText;
    this.start = at;
    this.kind = kind;
    if (kind === quote) at = endOfString(json, at);
    else if (classOf[kind] === punctuation) at += 1;
    else while (at < json.length && classOf[json[at] ?? 0] === literal) at += 1;
    this.end = at;
    return kind;
  }

  /** Moves from the first token of a value to its last. */
  skipValue(): void {
    let depth = 0;
    for (;;) {
      if (this.kind === openBrace || this.kind === openBracket) depth += 1;
      else if (this.kind === closeBrace || this.kind === closeBracket) depth -= 1;
      if (depth <= 0 || this.kind === endOfText) return;
      this.next();
    }
  }
}

/**
 * The offset after the closing quote of the string that begins at `opening`, or the end of the text if there is
 * none.
 */
function endOfString(json: Uint8Array, opening: number): number {
  for (let at = json.indexOf(quote, opening + 1); at !== -1; at = json.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return json.length;
}
