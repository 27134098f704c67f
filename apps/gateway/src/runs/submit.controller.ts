import { SETTINGS } from '#infrastructure';
import { type RouterQueueSubmitResponse, runUrls, type WebhookSettings } from '#schemas';
import { Controller, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { QueryPipe } from '../http/query.pipe.js';
import type { ModelSegments } from '../models/find-model.js';
import { ApiRoute } from '../http/api-route.js';
import { RunAdmission } from './run-admission.js';
import { submitQuery, submitRun } from './run-routes.js';
import { webhookOf } from './webhook-address.js';

/** Queued delivery: admits the run and answers immediately with its id and URLs. */
@Controller('v2/models/:provider/:model/requests')
export class SubmitController {
  constructor(
    private readonly admission: RunAdmission,
    @Inject(SETTINGS) private readonly settings: WebhookSettings,
  ) {}

  @Post()
  @Access({ scope: 'run' })
  @ApiRoute(submitRun)
  async submit(
    @Calling() caller: Caller,
    @Param() segments: ModelSegments,
    @Query(new QueryPipe(submitQuery)) query: z.output<typeof submitQuery>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterQueueSubmitResponse> {
    const webhook = webhookOf(query, this.settings);
    const run = await this.admission.admitRun({
      request,
      reply,
      caller,
      segments,
      mode: 'queued',
      picked: query.model_provider,
      alt: query.alt,
      webhook,
    });
    return {
      request_id: run.runId,
      status: 'IN_QUEUE',
      queue_position: run.position,
      ...runUrls(run.origin, run),
    };
  }
}
