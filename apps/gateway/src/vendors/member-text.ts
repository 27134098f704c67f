const [quote, backslash, comma, colon] = Buffer.from('"\\,:');
const [openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('{}[]');
/** Longer texts are treated as absent. */
const maxBytes = 1024;

/**
 * Finds the text of one member of a JSON object while the bytes of the object arrive, because parsing a large body would
 * block the event loop. It does not validate: of two members with the name it takes the first, and bytes that are not
 * JSON may have any text.
 */
export class MemberText {
  /** The text, as soon as it has arrived. Undefined if there is no such member, or if it is not a text. */
  text: string | undefined;
  private depth = 0;
  private isInText = false;
  private isEscaped = false;
  private isName = false;
  private name: string | undefined;
  /** The bytes of the current text, if they matter. */
  private kept: number[] | undefined;

  constructor(private readonly wanted: string) {}

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.text === undefined; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.isInText) this.addToText(byte);
      else this.addStructure(byte);
    }
  }

  private addToText(byte: number): void {
    if (!this.isEscaped && byte === quote) return this.endText();
    this.isEscaped = !this.isEscaped && byte === backslash;
    if (this.kept !== undefined && this.kept.length <= maxBytes) this.kept.push(byte);
  }

  private addStructure(byte: number): void {
    switch (byte) {
      case quote: {
        this.isInText = true;
        const matters = this.depth === 1 && (this.isName || this.name === this.wanted);
        this.kept = matters ? [] : undefined;
        return;
      }
      case openBrace:
      case openBracket:
        this.depth += 1;
        this.isName = this.depth === 1 && byte === openBrace;
        return;
      case closeBrace:
      case closeBracket:
        this.depth -= 1;
        return;
      case comma:
        if (this.depth === 1) this.isName = true;
        return;
      case colon:
        if (this.depth === 1) this.isName = false;
    }
  }

  private endText(): void {
    this.isInText = false;
    if (this.kept === undefined) return;
    const text = this.kept.length > maxBytes ? undefined : unescaped(this.kept);
    this.kept = undefined;
    if (this.isName) this.name = text;
    else this.text = text;
  }
}

function unescaped(bytes: readonly number[]): string | undefined {
  try {
    return JSON.parse(`"${Buffer.from(bytes).toString('utf8')}"`) as string;
  } catch {
    return undefined;
  }
}
