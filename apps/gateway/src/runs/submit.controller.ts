import type { RouterQueueSubmitResponse } from '#schemas';
import { Controller, Inject, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { CallerGuard } from '../auth/caller.guard.js';
import { Calling } from '../auth/calling.js';
import { originOf } from '../http/origin.js';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { Fingerprint, idempotencyKey } from './idempotency-key.js';
import { RunAdmission } from './run-admission.js';
import { RunInput } from './run-input.js';
import { runUrls } from './run-urls.js';

/** Queued delivery: admits the run and answers with its handle at once. */
@Controller('v2/models/:provider/:model/requests')
@UseGuards(CallerGuard)
export class SubmitController {
  constructor(
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    private readonly input: RunInput,
    private readonly admission: RunAdmission,
  ) {}

  @Post()
  @Access({ scope: 'run' })
  async submit(
    @Calling() caller: Caller,
    @Param('provider') provider: string,
    @Param('model') model: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const asked = this.input.model(caller, provider, model);
    const key = idempotencyKey(request.headers);
    const fingerprint = key === undefined ? undefined : new Fingerprint('POST', request.originalUrl);
    const { bytes, reservedMicros, release } = await this.input.accept(asked, request, (chunk) =>
      fingerprint?.add(chunk),
    );
    try {
      const run = await this.admission.admit(caller, asked, {
        mode: 'queued',
        requestId: request.id,
        traceparent: request.span?.traceparent,
        route: 'POST /v2/models/{provider}/{model}/requests',
        origin: originOf(request, this.settings.PUBLIC_BASE_URL),
        key,
        fingerprint: fingerprint?.digest(),
        bytes,
        reservedMicros,
      });
      if (run.replayed) reply.header('idempotent-replayed', 'true');
      void reply.code(201).send({
        request_id: run.runId,
        status: 'IN_QUEUE',
        queue_position: run.position,
        ...runUrls(run.origin, asked.id, run.runId),
      } satisfies RouterQueueSubmitResponse);
    } finally {
      release();
    }
  }
}
