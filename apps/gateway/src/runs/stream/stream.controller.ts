import { LiveCatalog } from '#catalog';
import type { LiveState } from '#persistence';
import { runUrls, statusBody } from '#schemas';
import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { Caller } from '../../auth/caller.js';
import { Access, CallerGuard, Calling } from '../../auth/caller.guard.js';
import { callerGone, noBody } from '../../http/replies.js';
import { FalRunGuard, statusFor } from '../../compat/fal-calls.js';
import { ApiRoute } from '../../reference/api-route.js';
import { runAddress, type RunSegments } from '../found-run.js';
import { streamRunStatus } from '../run-routes.js';
import { RunUpdates } from './run-updates.js';

const quietMs = 15_000;

/** Tells the state of a run as it changes, as server-sent events. */
@Controller('v2/models/:provider/:model/requests/:requestId/status/stream')
@UseGuards(CallerGuard, FalRunGuard)
export class StreamController {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly updates: RunUpdates,
  ) {}

  @Get()
  @Access({ scope: 'run' })
  @ApiRoute(streamRunStatus)
  async stream(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = runAddress(segments, caller, this.catalog.current);
    const urls = runUrls(request.publicOrigin, run);
    const updates = this.updates.follow(
      { ...run, workspaceId: caller.workspaceId },
      callerGone(reply),
      quietMs,
    );
    // Refusals come before the first byte.
    const first = await updates.next();
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      // Whoever stops the gateway need not wait for the client to hang up.
      connection: 'close',
    });
    if (request.method === 'HEAD') {
      await updates.return(null);
      return void reply.send(noBody());
    }
    const events = eventsOf(first.value, updates, (state) =>
      statusFor(request, statusBody(run.runId, state, urls)),
    );
    void reply.send(Readable.from(events));
  }
}

/** When clients whose stream has ended come back: not all at once, as after a restart. */
const minRetryMs = 500;
const maxRetryMs = 2_500;

/**
 * The text of server-sent events about a run: its body when that has changed, an event `progress` when the share has,
 * and a comment when nothing has for a while.
 */
async function* eventsOf(
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
