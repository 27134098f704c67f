import { Controller, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { ApiRoute } from '../http/api-route.js';
import { QueryPipe } from '../http/query.pipe.js';
import type { ModelSegments } from '../models/find-model.js';
import { runModel, serverQuery } from './run-routes.js';
import { SyncRuns } from './sync-runs.js';

/** Synchronous delivery. */
@Controller(['v1/models', 'v2/models'])
export class SyncController {
  constructor(private readonly runs: SyncRuns) {}

  @Post(':provider/:model')
  @Access({ scope: 'run' })
  @ApiRoute(runModel)
  async run(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Query(new QueryPipe(serverQuery)) { model_provider: picked, alt }: z.output<typeof serverQuery>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.runs.answerRun({ request, reply, caller, segments, picked, alt });
  }
}
