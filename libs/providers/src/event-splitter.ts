const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Splits server-sent events as they arrive. The bytes are untouched: all events and the rest are the stream. The events
 * do not depend on where the chunks end, so an event that ends with a lone CR is complete when the next byte arrives.
 */
export class EventSplitter {
  private held: Uint8Array[] = [];
  private isLineStart = true;
  private isAfterReturn = false;
  private isAfterBlankLine = false;

  /** The events that the chunk completes, with the blank line that ends each of them. They may be views of the chunk. */
  push(chunk: Uint8Array): Uint8Array[] {
    const events: Uint8Array[] = [];
    let from = 0;
    const complete = (to: number) => {
      const end = chunk.subarray(from, to);
      events.push(this.held.length === 0 ? end : Buffer.concat([...this.held, end]));
      this.held = [];
      from = to;
      this.isAfterBlankLine = false;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const endsReturn = this.isAfterReturn && byte === lineFeed;
      this.isAfterReturn = byte === carriageReturn;
      if (this.isAfterBlankLine) complete(endsReturn ? at + 1 : at);
      if (endsReturn) continue;
      const isLineEnd = byte === lineFeed || byte === carriageReturn;
      this.isAfterBlankLine = isLineEnd && this.isLineStart;
      this.isLineStart = isLineEnd;
      if (this.isAfterBlankLine && byte === lineFeed) complete(at + 1);
    }
    if (from < chunk.length) this.held.push(chunk.slice(from));
    return events;
  }

  /** The bytes after the last complete event. */
  rest(): Uint8Array {
    return Buffer.concat(this.held);
  }
}

/** The data of one event; several lines are joined. Empty if it has none, such as a comment. */
export function dataOf(event: Uint8Array): string {
  const data: string[] = [];
  for (const line of textOf(event).split(/\r\n?|\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(line.startsWith(' ', 5) ? 6 : 5));
    else if (line === 'data') data.push('');
  }
  return data.join('\n');
}

/** Without a byte order mark. A decoder would be slow, because events are short. */
function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  const text = Buffer.from(buffer, byteOffset, length).toString();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
