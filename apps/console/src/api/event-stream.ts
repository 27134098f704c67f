export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a `text/event-stream`, without its keep-alive comments. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks.map(eventOf).filter(({ data }) => data !== '');
    }
  } finally {
    await reader.cancel();
  }
}

function eventOf(block: string): ServerEvent {
  const lines = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
  const of = (name: string) => lines.filter(([, field]) => field === name).map(([, , text = '']) => text);
  return { event: of('event').join('') || 'message', data: of('data').join('\n') };
}
