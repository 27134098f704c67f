import { LiveCatalog } from '#catalog';
import { RunReader } from '#persistence';
import {
  type RouterQueueCancelResponse,
  type RouterQueueStatusResponse,
  runUrls,
  statusBody,
} from '#schemas';
import { Controller, Get, HttpCode, Param, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CancelledTooLate } from '../answers/error-answer.js';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { ApiRoute } from '../http/api-route.js';
import { namePayer, nameRun } from '../answers/run-of-call.js';
import { foundRun, runAddress, type RunSegments, settledHeaders } from './found-run.js';
import { KeptRuns } from './kept-runs.js';
import { RunPayloads } from './run-payloads.js';
import { RunCancellation } from './run-cancellation.js';
import { cancelRun, collectRun, getRunStatus } from './run-routes.js';

/** The routes of one run. */
@Controller('v2/models/:provider/:model/requests/:requestId')
export class RunsController {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly runs: RunReader,
    private readonly cancellation: RunCancellation,
    private readonly payloads: RunPayloads,
    private readonly kept: KeptRuns,
  ) {}

  @Get('status')
  @Access({ scope: 'run' })
  @ApiRoute(getRunStatus)
  async status(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterQueueStatusResponse> {
    const run = runAddress(segments, caller, this.catalog.current);
    const state = foundRun(await this.runs.state(caller.workspaceId, run.modelId, run.runId), run.runId);
    nameRun(reply, run.runId);
    namePayer(reply, state.ownKey);
    reply.headers(settledHeaders(state));
    return statusBody(run.runId, state, runUrls(request.publicOrigin, run));
  }

  @Get()
  @Access({ scope: 'run' })
  @ApiRoute(collectRun)
  async collect(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = runAddress(segments, caller, this.catalog.current);
    const withBody = request.method !== 'HEAD';
    const found = await this.runs.result(caller.workspaceId, run.modelId, run.runId, { withBody });
    const result = foundRun(found, run.runId);
    nameRun(reply, run.runId);
    namePayer(reply, result.ownKey);
    reply.headers(settledHeaders(result));
    if (result.stage === 'completed')
      return this.payloads.sendOutput(reply, await this.kept.output(reply, run.runId, result));
    void reply.code(202).send(statusBody(run.runId, result, runUrls(request.publicOrigin, run)));
  }

  @Put('cancel')
  @HttpCode(202)
  @Access({ scope: 'run' })
  @ApiRoute(cancelRun)
  async cancel(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterQueueCancelResponse> {
    const { modelId, runId } = runAddress(segments, caller, this.catalog.current);
    const answer = await this.cancellation.cancelRun(caller.workspaceId, modelId, runId);
    const found = foundRun(answer, runId);
    nameRun(reply, runId);
    if (found === 'completed') throw new CancelledTooLate(runId);
    return { request_id: runId, status: 'CANCELLATION_REQUESTED' };
  }
}
