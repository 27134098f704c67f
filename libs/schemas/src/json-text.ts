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

/** A container is an array or an object: an empty one takes twenty times its text once parsed. */
interface JsonLimits {
  depth: number;
  keys: number;
  containers: number;
}

/**
 * Which limit JSON text exceeds, found before anything parses it. Text that is not JSON gets no particular answer. The
 * same pass fills `index`.
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

/** An object or list of the text. */
export interface JsonContainer {
  around: JsonContainer | undefined;
  /** The member that holds it, or its index in the list around it; undefined for the outermost one. */
  at: JsonMember | number | undefined;
  /** The member or the index that is read, while the index is made. */
  current: JsonMember | number | undefined;
}

/** A member of an object; the place of its value includes the white space around it. */
interface JsonMember extends JsonPlace {
  name: JsonPlace;
  within: JsonContainer;
}

/** The members of every object of a JSON text, in its order, doubled ones too. The caller has to know that it is JSON. */
export class JsonIndex {
  readonly members: JsonMember[] = [];
  private valuesAndNames = 0;
  private container: JsonContainer | undefined;
  private lastStart = 0;
  private lastEnd = 0;

  constructor(readonly json: Uint8Array) {}

  /** How many values the text has, its objects and lists and all elements among them. */
  get values(): number {
    return this.valuesAndNames - this.members.length;
  }

  nameOf({ name }: JsonMember): string {
    return stringAt(this.json, name);
  }

  parse(member: JsonMember): unknown {
    return JSON.parse(textAt(this.json, member));
  }

  /** The next token of the text. */
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
 * digits. It is read once, and only as deep as the longest pointer. Before each member on the way, `visit` gets the
 * number of bytes so far that no place holds; it may throw to end the search.
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

/** Where the strings stand that take more than so many bytes, the names of members among them. */
export function longStringsOf(json: Uint8Array, maxBytes: number): JsonPlace[] {
  const tokens = new JsonTokens(json);
  const places: JsonPlace[] = [];
  while (tokens.next() !== endOfText) {
    const { kind, start, end } = tokens;
    if (kind === quote && end - start > maxBytes) places.push({ start, end });
  }
  return places;
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

/**
 * JSON text with a string in the place of each array or object that holds more than `maxContainers`, itself counted.
 * Only the smallest such part is left out, so what stands beside it is found where it was. Its depth should be bounded.
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
/** Of each byte. */
const classOf = new Uint8Array(256);
for (const byte of Buffer.from(' \n\r\t')) classOf[byte] = space;
for (const byte of Buffer.from('",:[]{}')) classOf[byte] = punctuation;

/**
 * Reads JSON text token by token, on its bytes: brackets, braces, commas, colons, strings, and everything else
 * (numbers, true, false, null) as one kind. No recursion, nothing allocated for a token. The text is not validated:
 * text that is not JSON gives tokens of some kind, and an end.
 */
class JsonTokens {
  /** The first byte of the current token, which tells its kind; -1 at the end of the text. */
  kind = endOfText as number;
  /** The offset of the current token. */
  start = 0;
  /** The offset behind the current token. */
  end: number;

  private readonly json: Uint8Array;

  constructor(json: Uint8Array, from = 0) {
    // A plain view: a Buffer's own indexOf is ten times slower.
    this.json = new Uint8Array(json.buffer, json.byteOffset, json.byteLength);
    // Parsers read past a byte order mark; so must whoever finds places in the same text.
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

  /** Moves to the last token of the value whose first token is the current one. */
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

/** The offset behind the closing quote of the string that opens there; the end of the text when there is none. */
function endOfString(json: Uint8Array, opening: number): number {
  for (let at = json.indexOf(quote, opening + 1); at !== -1; at = json.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return json.length;
}
