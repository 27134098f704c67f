export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a `text/event-stream`, without its keep-alive comments. An event that was cut off is left out. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    // A broken stream cannot be cancelled.
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads events of any server from text that arrives in chunks of any length. */
export class EventParser {
  private begun = '';
  private isAfterReturn = false;
  private event = '';
  private data: string[] = [];

  /** The events that the chunk completes. */
  push(chunk: string): ServerEvent[] {
    if (chunk === '') return [];
    // A line feed is the second half of a line break that the previous chunk began.
    const lines = chunk.slice(this.isAfterReturn && chunk.startsWith('\n') ? 1 : 0).split(/\r\n?|\n/);
    this.isAfterReturn = chunk.endsWith('\r');
    // Only the chunk is searched, so a long line costs no more in many chunks.
    lines[0] = this.begun + (lines[0] ?? '');
    this.begun = lines.pop() ?? '';
    return lines.flatMap((line) => this.take(line) ?? []);
  }

  private take(line: string): ServerEvent | undefined {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (name === 'event') this.event = value;
    if (name === 'data') this.data.push(value);
    if (line !== '') return undefined;
    const { event, data } = this;
    [this.event, this.data] = ['', []];
    return data.length === 0 ? undefined : { event: event || 'message', data: data.join('\n') };
  }
}
