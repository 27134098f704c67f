import { LiveCatalog } from '#catalog';
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
import { eventsOf } from './events.js';
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
