import { Metrics } from '#observability';
import { type LiveState, RunReader } from '#persistence';
import { Injectable } from '@nestjs/common';
import { foundRun, type runAddress } from '../runs/found-run.js';
import { isSame, RunWatch, unlessAway } from '../runs/run-watch.js';

/** A stream's clients come back after a random time in this range, so that a restart does not bring all of them at once. */
const minRetryMs = 500;
const maxRetryMs = 2_500;

type FollowedRun = ReturnType<typeof runAddress> & { workspaceId: string };

/** Follows runs for callers that want to be told of each change. */
@Injectable()
export class StatusStream {
  constructor(
    private readonly runs: RunReader,
    private readonly watches: RunWatch,
    private readonly metrics: Metrics,
  ) {}

  /**
   * The state of the run at once, then after each change, at last as completed; null after each 15 s without one.
   * Ends before that when the watch of the run ends. The first step throws what a status call would answer.
   */
  async *states(run: FollowedRun, gone: AbortSignal): AsyncGenerator<LiveState | null> {
    // A change that is signalled before the first read must not be missed.
    const watch = this.watches.begin(run.runId, gone);
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
    return foundRun(await this.runs.state(workspaceId, modelId, runId));
  }
}

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
