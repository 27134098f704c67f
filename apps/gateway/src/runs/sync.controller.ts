import { Controller, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { QueryPipe } from '../http/query.pipe.js';
import { callerGone } from '../http/replies.js';
import type { ModelSegments } from '../models/find-model.js';
import { ApiRoute } from '../http/api-route.js';
import { Delivery } from './held/delivery.js';
import { HeldRuns } from './held/held-runs.js';
import { HeldShares } from './held/held-shares.js';
import { RunAdmission } from './run-admission.js';
import { runModel, serverQuery } from './run-routes.js';

/** Synchronous delivery: the queued path with a held connection. */
@Controller(['v1/models', 'v2/models'])
@UseGuards(CallerGuard)
export class SyncController {
  constructor(
    private readonly admission: RunAdmission,
    private readonly held: HeldRuns,
    private readonly delivery: Delivery,
    private readonly shares: HeldShares,
  ) {}

  @Post(':provider/:model')
  @Access({ scope: 'run' })
  @ApiRoute(runModel)
  async run(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Query(new QueryPipe(serverQuery)) { model_provider: picked }: z.output<typeof serverQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.shares.hold(reply, caller.workspaceId);
    const gone = callerGone(reply);
    const { run, result } = await this.held.outcome(
      (onAccepted) =>
        this.admission.admitFrom(request, caller, segments, { mode: 'sync', picked, onAccepted }),
      gone,
    );
    await this.delivery.send(reply, run, result);
  }
}
