import { Readable } from 'node:stream';
import { LiveCatalog } from '#catalog';
import { runUrls, statusBody } from '#schemas';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { ApiRoute } from '../http/api-route.js';
import { nameRun } from '../answers/run-of-call.js';
import { callerGone, noBody } from '../http/replies.js';
import { runAddress, type RunSegments } from '../runs/found-run.js';
import { HeldShares } from '../runs/held/held-shares.js';
import { streamRunStatus } from '../runs/run-routes.js';
import { eventsOf, StatusStream } from './status-stream.js';

@Controller('v2/models/:provider/:model/requests/:requestId/status/stream')
export class StreamsController {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly streams: StatusStream,
    private readonly shares: HeldShares,
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
    this.shares.holdConnection(reply, caller.workspaceId);
    const states = this.streams.states({ ...run, workspaceId: caller.workspaceId }, callerGone(reply));
    // Errors must come before the first byte.
    const first = await states.next();
    nameRun(reply, run.runId);
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      // So that a stopping gateway need not wait for the client to close.
      connection: 'close',
    });
    if (request.method === 'HEAD') {
      await states.return(null);
      return void reply.send(noBody());
    }
    const events = eventsOf(first.value, states, (state) => statusBody(run.runId, state, urls));
    void reply.send(Readable.from(events));
  }
}
