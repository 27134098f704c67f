import type { LiveState } from '#persistence';

/** When clients whose stream has ended come back: not all at once, as after a restart. */
const minRetryMs = 500;
const maxRetryMs = 2_500;

/**
 * The text of server-sent events about a run: its body when that has changed, an event `progress` when the share has,
 * and a comment when nothing has for a while.
 */
export async function* eventsOf(
  first: LiveState | null,
  updates: AsyncIterable<LiveState | null>,
  bodyOf: (state: LiveState) => object,
): AsyncGenerator<string> {
  let told = '';
  let progress: number | null = null;
  const events = (state: LiveState | null): string => {
    if (state === null) return ': keep-alive\n\n';
    let text = '';
    const body = JSON.stringify(bodyOf(state));
    if (body !== told) text += `data: ${body}\n\n`;
    told = body;
    if (state.progress !== progress && state.progress !== null && state.stage !== 'completed')
      text += `event: progress\ndata: ${JSON.stringify({ progress: state.progress })}\n\n`;
    ({ progress } = state);
    return text;
  };
  const retryMs = Math.round(minRetryMs + Math.random() * (maxRetryMs - minRetryMs));
  yield `retry: ${retryMs}\n\n${events(first)}`;
  for await (const state of updates) {
    const text = events(state);
    if (text !== '') yield text;
  }
}
