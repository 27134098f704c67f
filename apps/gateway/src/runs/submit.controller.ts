import type { RouterQueueSubmitResponse } from '#schemas';
import { Controller, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { Access, CallerGuard, Calling } from '../auth/caller.guard.js';
import type { ModelSegments } from '../models/find-model.js';
import { ApiRoute } from '../reference/api-route.js';
import { RunAdmission } from './run-admission.js';
import { submitRun } from './run-routes.js';
import { runUrls } from './status-body.js';

/** Queued delivery: admits the run and answers with its handle at once. */
@Controller('v2/models/:provider/:model/requests')
@UseGuards(CallerGuard)
export class SubmitController {
  constructor(private readonly admission: RunAdmission) {}

  @Post()
  @Access({ scope: 'run' })
  @ApiRoute(submitRun)
  async submit(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterQueueSubmitResponse> {
    const run = await this.admission.admitFrom(request, caller, segments, 'queued');
    if (run.replayed) reply.header('idempotent-replayed', 'true');
    return {
      request_id: run.runId,
      status: 'IN_QUEUE',
      queue_position: run.position,
      ...runUrls(run.origin, run),
    };
  }
}
