import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import type { WebhookAddress } from '#persistence';
import { type RouterQueueSubmitResponse, runUrls, webhookProblem, type WebhookSettings } from '#schemas';
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
    const webhook = webhookOf(query, this.settings.WEBHOOK_ALLOWED_ORIGINS);
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

/** The webhook to call when the run has finished. Throws for a URL that is not allowed. */
function webhookOf(
  { webhook_url: standard, fal_webhook: fal }: z.output<typeof submitQuery>,
  allowedOrigins: readonly string[],
): WebhookAddress | undefined {
  if (standard !== undefined && fal !== undefined)
    throw new RouterError('invalid_input', 'Give webhook_url or fal_webhook, not both.');
  const url = standard ?? fal;
  if (url === undefined) return undefined;
  const form = standard === undefined ? 'fal' : 'standard';
  const problem = webhookProblem(url, allowedOrigins);
  if (problem !== null)
    throw new RouterError('invalid_input', `${form === 'fal' ? 'fal_webhook' : 'webhook_url'} ${problem}.`);
  // The normalised URL: the text itself may contain blanks, and a NUL, which the database does not accept.
  const { href, origin } = new URL(url);
  return { url: href, receiver: origin, form };
}
