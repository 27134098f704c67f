import { chunksOf } from './time-limit.js';

export interface ServerSentEvent {
  /** `message` if the sender named none. */
  event: string;
  /** As sent, usually JSON. OpenAI ends a chat with the text `[DONE]`. */
  data: string;
  /** The last id that the sender gave, if any. */
  id: string | undefined;
}

/**
 * Yields the events of a body as the HTML standard defines them. An event that the body ends in the middle of is not
 * yielded. `arrived` is called for each chunk, comments included.
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  signal: AbortSignal,
  arrived?: () => void,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let begun = '';
  let isAfterReturn = false;
  let event = '';
  let data: string[] = [];
  let id: string | undefined;
  for await (const chunk of chunksOf(body, signal)) {
    arrived?.();
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // A line feed is the second half of a line break that the previous chunk began.
    const lines = text.slice(isAfterReturn && text.startsWith('\n') ? 1 : 0).split(/\r\n?|\n/);
    isAfterReturn = text.endsWith('\r');
    // Only the chunk is searched, so a long line costs no more in many chunks.
    lines[0] = begun + (lines[0] ?? '');
    begun = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id };
        event = '';
        data = [];
        continue;
      }
      const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id' && !value.includes('\0')) id = value;
    }
  }
}
