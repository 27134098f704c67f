import type { JsonExcess, JsonPlace } from './json-text.js';

const [quote, backslash, comma, colon] = Buffer.from('"\\,:');
const [openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('{}[]');
/** Longer texts are treated as absent. */
const maxTextBytes = 1024;

/** Limits of a scan, of members and of levels. */
interface ScanLimits {
  keys: number;
  depth: number;
}

/** Learns the offsets of the members of an object, in order. */
interface MemberVisitor {
  /** The value of a member begins; the white space around it is part of it. The name is undefined unless it is wanted. */
  begin: (name: string | undefined, at: number) => void;
  /** The value has ended before this offset. */
  end: (at: number) => void;
  /** The closing brace of the object. */
  close?: (at: number) => void;
}

/**
 * Reads the members of a JSON object while the bytes of the object arrive, because reading a large body at once would
 * block the event loop. Names are compared as bytes, so that no name costs more than its bytes. It does not validate:
 * bytes that are not JSON may have any members.
 */
class MemberScan {
  /** The limit that the bytes exceed. Nothing is read after that. */
  excess: Exclude<JsonExcess, 'too_many_containers'> | undefined;
  private at = 0;
  private depth = 0;
  private keys = 0;
  private isObject = false;
  private isInText = false;
  private isEscaped = false;
  private isName = false;
  private readonly name: WantedName;

  constructor(
    wanted: readonly string[],
    private readonly visitor: MemberVisitor,
    private readonly limits: ScanLimits = { keys: Infinity, depth: Infinity },
  ) {
    this.name = new WantedName(wanted);
  }

  add(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length && this.excess === undefined; index += 1, this.at += 1) {
      const byte = chunk[index] ?? 0;
      if (this.isInText) this.addToText(byte);
      else this.addStructure(byte);
    }
  }

  private addToText(byte: number): void {
    if (!this.isEscaped && byte === quote) {
      this.isInText = false;
      return;
    }
    this.isEscaped = !this.isEscaped && byte === backslash;
    if (this.isName && this.depth === 1) this.name.add(byte);
  }

  private addStructure(byte: number): void {
    const isMember = this.depth === 1 && this.isObject;
    switch (byte) {
      case quote:
        this.isInText = true;
        if (isMember && this.isName) this.name.clear();
        return;
      case openBrace:
      case openBracket:
        this.depth += 1;
        if (this.depth > this.limits.depth) this.excess = 'too_deep';
        if (this.depth === 1) this.isName = this.isObject = byte === openBrace;
        return;
      case closeBrace:
      case closeBracket:
        this.depth -= 1;
        if (!isMember) return;
        if (!this.isName) this.visitor.end(this.at);
        this.visitor.close?.(this.at);
        return;
      case comma:
        if (!isMember) return;
        if (!this.isName) this.visitor.end(this.at);
        this.isName = true;
        return;
      case colon:
        this.keys += 1;
        if (this.keys > this.limits.keys) this.excess = 'too_many_keys';
        if (!isMember || !this.isName) return;
        this.isName = false;
        this.visitor.begin(this.name.found(), this.at + 1);
    }
  }
}

/** Longest escape of a UTF-16 code unit: `\u0065`. */
const maxEscapeBytes = 6;

/** The bytes of a name, and the wanted name that they are. */
class WantedName {
  private readonly bytes: Uint8Array;
  private length = 0;
  private hasEscape = false;

  constructor(private readonly wanted: readonly string[]) {
    this.bytes = new Uint8Array(maxEscapeBytes * Math.max(...wanted.map((name) => name.length)));
  }

  clear(): void {
    this.length = 0;
    this.hasEscape = false;
  }

  add(byte: number): void {
    // A write beyond the end is ignored.
    this.bytes[this.length] = byte;
    this.length += 1;
    if (byte === backslash) this.hasEscape = true;
  }

  found(): string | undefined {
    const isLikely = this.hasEscape || this.wanted.some(({ length }) => length === this.length);
    if (!isLikely || this.length > this.bytes.length) return undefined;
    const text = Buffer.from(this.bytes.subarray(0, this.length)).toString('utf8');
    const name = this.hasEscape ? unescaped(text) : text;
    return this.wanted.includes(name) ? name : undefined;
  }
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Broken escapes give some other text. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_escape, code: string | undefined, letter: string) =>
    code === undefined ? (escapes[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Finds these members of an object while its bytes arrive. Of several members with one name, it finds the first. */
export class MemberPlaces {
  private readonly places = new Map<string, JsonPlace>();
  private current: { name: string; start: number } | undefined;
  private readonly scan: MemberScan;

  constructor(wanted: readonly string[], limits?: ScanLimits) {
    const visitor: MemberVisitor = {
      begin: (name, start) => {
        this.current = name !== undefined && !this.places.has(name) ? { name, start } : undefined;
      },
      end: (end) => {
        if (this.current !== undefined)
          this.places.set(this.current.name, { start: this.current.start, end });
        this.current = undefined;
      },
    };
    this.scan = new MemberScan(wanted, visitor, limits);
  }

  /** Returns the limit that the bytes so far exceed. */
  add(chunk: Uint8Array): JsonExcess | undefined {
    this.scan.add(chunk);
    return this.scan.excess;
  }

  placeOf(name: string): JsonPlace | undefined {
    return this.places.get(name);
  }

  /** The text of a member, from all bytes of the object. Undefined if there is no such member, or if it is not a text. */
  textOf(name: string, json: Uint8Array): string | undefined {
    const { start, end } = this.places.get(name) ?? { start: 0, end: 0 };
    if (end - start > 2 * maxTextBytes) return undefined;
    const value = Buffer.from(json.subarray(start, end)).toString().trim();
    return value.startsWith('"') ? textOf(Buffer.from(value.slice(1, -1))) : undefined;
  }
}

/**
 * Replaces members of an object while its bytes pass, and adds those that it lacks at its end. Everything else stays
 * unchanged.
 */
export class ReplacedMembers {
  private readonly missing: Map<string, string>;
  private readonly replacements: ReadonlyMap<string, string>;
  private chunk: Uint8Array = Buffer.alloc(0);
  private chunkStart = 0;
  /** The offset from which bytes pass. */
  private from = 0;
  private isReplacing = false;
  private isEmpty = true;
  private passed: Uint8Array[] = [];
  private readonly scan: MemberScan;

  constructor(members: Readonly<Record<string, unknown>>) {
    this.scan = new MemberScan(Object.keys(members), {
      begin: (name, at) => this.begin(name, at),
      end: (at) => {
        if (this.isReplacing) this.from = at;
        this.isReplacing = false;
      },
      close: (at) => this.addMissing(at),
    });
    this.replacements = new Map(
      Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]),
    );
    this.missing = new Map(this.replacements);
  }

  /** The bytes that pass for this chunk. */
  add(chunk: Uint8Array): Buffer {
    this.chunk = chunk;
    this.passed = [];
    this.scan.add(chunk);
    if (!this.isReplacing) this.pass(this.chunkStart + chunk.length);
    this.chunkStart += chunk.length;
    return Buffer.concat(this.passed);
  }

  private begin(name: string | undefined, at: number): void {
    this.isEmpty = false;
    const text = name === undefined ? undefined : this.replacements.get(name);
    if (name === undefined || text === undefined) return;
    this.missing.delete(name);
    this.pass(at);
    this.passed.push(Buffer.from(text));
    this.isReplacing = true;
  }

  private addMissing(at: number): void {
    this.pass(at);
    const added = [...this.missing].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
    this.passed.push(Buffer.from([...(this.isEmpty ? [] : ['']), ...added].join(',')));
    this.missing.clear();
  }

  /** Lets the bytes before this offset pass. */
  private pass(at: number): void {
    this.passed.push(
      this.chunk.subarray(Math.max(0, this.from - this.chunkStart), Math.max(0, at - this.chunkStart)),
    );
    this.from = at;
  }
}

/** The text within quotation marks. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > maxTextBytes) return undefined;
  try {
    return JSON.parse(`"${bytes.toString('utf8')}"`) as string;
  } catch {
    return undefined;
  }
}
