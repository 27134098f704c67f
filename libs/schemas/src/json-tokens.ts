const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
const backslash = 0x5c;
export const endOfText = -1;

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
export class JsonTokens {
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
    this.end = from;
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
