import { LiveCatalog } from '#catalog';
import { RunReader } from '#persistence';
import type { RouterQueueCancelResponse, RouterQueueStatusResponse } from '#schemas';
import { Controller, Get, Inject, Param, Put, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { CallerGuard } from '../auth/caller.guard.js';
import { Calling } from '../auth/calling.js';
import { originOf } from '../http/origin.js';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { Payloads } from './payloads.js';
import { outputOf } from './result.js';
import { foundRun, runAddress, type RunSegments } from './run-address.js';
import { RunCancellation } from './run-cancellation.js';
import { statusBody } from './status-body.js';
import { runUrls } from './run-urls.js';

const run = ':requestId';

/** Everything a caller asks about one of its runs. */
@Controller('v2/models/:provider/:model/requests')
@UseGuards(CallerGuard)
export class RunsController {
  constructor(
    private readonly catalog: LiveCatalog,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    private readonly answers: RunReader,
    private readonly cancellation: RunCancellation,
    private readonly payloads: Payloads,
  ) {}

  @Get(`${run}/status`)
  @Access({ scope: 'run' })
  async status(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Req() request: FastifyRequest,
  ): Promise<RouterQueueStatusResponse> {
    const { modelId, runId } = runAddress(segments, caller, this.catalog.current);
    const state = foundRun(await this.answers.state(caller.workspaceId, modelId, runId));
    return statusBody(runId, state, this.urls(request, modelId, runId));
  }

  @Get(run)
  @Access({ scope: 'run' })
  async collect(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { modelId, runId } = runAddress(segments, caller, this.catalog.current);
    const result = foundRun(await this.answers.result(caller.workspaceId, modelId, runId));
    if (result.stage !== 'completed') {
      void reply.code(202).send(statusBody(runId, result, this.urls(request, modelId, runId)));
      return;
    }
    await this.payloads.send(reply, outputOf(result));
  }

  @Put(`${run}/cancel`)
  @Access({ scope: 'run' })
  async cancel(
    @Calling() caller: Caller,
    @Param() segments: RunSegments,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { modelId, runId } = runAddress(segments, caller, this.catalog.current);
    const found = foundRun(await this.cancellation.ask(caller.workspaceId, modelId, runId));
    const tooLate = found === 'completed';
    if (tooLate) reply.code(400).header('x-service-error-type', 'invalid_input');
    else reply.code(202);
    void reply.send({
      request_id: runId,
      status: tooLate ? 'ALREADY_COMPLETED' : 'CANCELLATION_REQUESTED',
    } satisfies RouterQueueCancelResponse);
  }

  private urls(request: FastifyRequest, modelId: string, runId: string) {
    return runUrls(originOf(request, this.settings.PUBLIC_BASE_URL), modelId, runId);
  }
}
