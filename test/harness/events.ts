/** The content of one server-sent event. */
interface StreamedEvent {
  event: string;
  data: Record<string, unknown>;
}

interface EventStream {
  response: Response;
  events: StreamedEvent[];
  comments: number;
  retryMs: number | undefined;
  /** Resolves when the server has ended the stream: true if it ended cleanly. */
  ended: Promise<boolean>;
  close(): void;
}

/** Opens a stream of server-sent events and collects them as they arrive. */
export async function openEvents(url: string, headers: Record<string, string>): Promise<EventStream> {
  const closing = new AbortController();
  const response = await fetch(url, { headers, signal: closing.signal });
  const stream: EventStream = {
    response,
    events: [],
    comments: 0,
    retryMs: undefined,
    ended: Promise.resolve(true),
    close: () => closing.abort(),
  };
  stream.ended = read(stream).then(
    () => true,
    () => false,
  );
  return stream;
}

async function read(stream: EventStream): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream.response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) take(stream, block.split('\n'));
  }
}

function take(stream: EventStream, lines: readonly string[]): void {
  const of = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  if (lines.some((line) => line.startsWith(':'))) stream.comments += 1;
  const [retry, data] = [of('retry'), of('data')];
  if (retry !== undefined) stream.retryMs = Number(retry);
  if (data !== undefined)
    stream.events.push({
      event: of('event') ?? 'message',
      data: JSON.parse(data) as Record<string, unknown>,
    });
}
