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
      if (done) return yield* parser.end();
      yield* parser.push(value);
    }
  } finally {
    // A broken stream cannot be cancelled.
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads events of any server from text that arrives in chunks of any length. */
export class EventParser {
  private rest = '';
  /** A CR at the end of a chunk may be the first half of a line end. */
  private isAfterReturn = false;

  /** The events that the chunk completes. */
  push(chunk: string): ServerEvent[] {
    const text = (this.isAfterReturn ? '\r' : '') + chunk;
    this.isAfterReturn = text.endsWith('\r');
    const known = Math.max(0, this.rest.length - 1);
    this.rest += (this.isAfterReturn ? text.slice(0, -1) : text).replaceAll(/\r\n?/g, '\n');
    const events: ServerEvent[] = [];
    let from = 0;
    for (let end = this.rest.indexOf('\n\n', known); end !== -1; end = this.rest.indexOf('\n\n', from)) {
      events.push(eventOf(this.rest.slice(from, end)));
      from = end + 2;
    }
    this.rest = this.rest.slice(from);
    return events.filter(({ data }) => data !== '');
  }

  /** The last event, if only its blank line is not complete. */
  end(): ServerEvent[] {
    return this.isAfterReturn ? this.push('\n') : [];
  }
}

function eventOf(block: string): ServerEvent {
  const lines = block.split('\n').map((line) => /^(\w+)(?:: ?(.*))?$/.exec(line) ?? []);
  const of = (name: string) => lines.filter(([, field]) => field === name).map(([, , text = '']) => text);
  return { event: of('event').join('') || 'message', data: of('data').join('\n') };
}
