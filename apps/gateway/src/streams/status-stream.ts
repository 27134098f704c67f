import { Metrics } from '#observability';
import { type LiveState, RunReader } from '#persistence';
import { Injectable } from '@nestjs/common';
import { foundRun, type runAddress } from '../runs/found-run.js';
import { isSame, RunWatch, unlessAway } from '../runs/run-watch.js';

/**
 * Clients of a stream reconnect after a random time in this range, so that a restart does not bring them all back at
 * once.
 */
const minRetryMs = 500;
const maxRetryMs = 2_500;

type FollowedRun = ReturnType<typeof runAddress> & { workspaceId: string };

/** Follows runs for callers that want to see each change. */
@Injectable()
export class StatusStream {
  constructor(
    private readonly runs: RunReader,
    private readonly watches: RunWatch,
    private readonly metrics: Metrics,
  ) {
    metrics.statusStreams.set(0);
  }

  /**
   * Yields the state of the run immediately and after each change, until it is completed, and null after each 15 s
   * without a change. Ends early if the watch of the run ends. The first step throws the error that a status call
   * would answer.
   */
  async *states(run: FollowedRun, gone: AbortSignal): AsyncGenerator<LiveState | null> {
    // Begins before the first read, so that no change is missed.
    const watch = this.watches.begin(run.runId, gone, 'stream');
    this.metrics.statusStreams.inc();
    try {
      let state: LiveState | undefined = await this.read(run);
      const events = watch.events();
      for (;;) {
        if (state && !isSame(state, watch.known)) {
          watch.known = state;
          yield state;
          if (state.stage === 'completed') return;
        }
        const { value: news, done } = await events.next();
        if (done) return;
        if (news === null) yield null;
        state = news === null ? undefined : (news.state ?? (await unlessAway(this.read(run))));
      }
    } finally {
      watch.close();
      this.metrics.statusStreams.dec();
    }
  }

  private async read({ workspaceId, modelId, runId }: FollowedRun): Promise<LiveState> {
    return foundRun(await this.runs.state(workspaceId, modelId, runId), runId);
  }
}

/**
 * The server-sent events of a run: its status body when that changes, an event `progress` when the progress changes,
 * and a comment after a while without a change.
 */
export async function* eventsOf(
  first: LiveState | null,
  updates: AsyncIterable<LiveState | null>,
  bodyOf: (state: LiveState) => object,
): AsyncGenerator<string> {
  let sent = '';
  let progress: number | null = null;
  const events = (state: LiveState | null): string => {
    if (state === null) return ': keep-alive\n\n';
    let text = '';
    const body = JSON.stringify(bodyOf(state));
    if (body !== sent) text += `data: ${body}\n\n`;
    sent = body;
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
