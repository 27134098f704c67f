import { generationOf } from '../http/generation.js';
import { Controller, Inject, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../auth/access.js';
import type { Caller } from '../auth/caller.js';
import { CallerGuard } from '../auth/caller.guard.js';
import { Calling } from '../auth/calling.js';
import { originOf } from '../http/origin.js';
import { SETTINGS } from '../settings.module.js';
import type { GatewaySettings } from '../settings.js';
import { Delivery } from './held/delivery.js';
import { HeldRuns } from './held/held-run.js';
import { cannotReplay, isReplayable } from './held/replay.js';
import { Fingerprint, idempotencyKey } from './idempotency-key.js';
import { Payloads } from './payloads.js';
import { outputOf } from './result.js';
import { RunAdmission } from './run-admission.js';
import { RunInput } from './run-input.js';

interface Segments {
  provider: string;
  model: string;
}

/** Synchronous delivery: the queued path with a held connection. */
@Controller(['v1/models', 'v2/models'])
@UseGuards(CallerGuard)
export class SyncController {
  constructor(
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
    private readonly input: RunInput,
    private readonly admission: RunAdmission,
    private readonly held: HeldRuns,
    private readonly delivery: Delivery,
    private readonly payloads: Payloads,
  ) {}

  @Post(':provider/:model')
  @Access({ scope: 'run' })
  async run(
    @Calling() caller: Caller,
    @Param() { provider, model }: Segments,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const asked = this.input.model(caller, provider, model);
    const key = idempotencyKey(request.headers);
    const disconnected = new AbortController();
    reply.raw.once('close', () => disconnected.abort());
    const fingerprint = key === undefined ? undefined : new Fingerprint('POST', request.originalUrl);
    const { bytes, reservedMicros, release } = await this.input.accept(asked, request, (chunk) =>
      fingerprint?.add(chunk),
    );
    const run = await this.admission
      .admit(caller, asked, {
        mode: 'sync',
        requestId: request.id,
        traceparent: request.span?.traceparent,
        route: `POST /${generationOf(request)}/models/{provider}/{model}`,
        origin: originOf(request, this.settings.PUBLIC_BASE_URL),
        key,
        fingerprint: fingerprint?.digest(),
        bytes,
        reservedMicros,
      })
      .finally(release);
    const { workspaceId } = caller;
    const result = await this.held.outcome(
      { workspaceId, modelId: asked.id, runId: run.runId },
      disconnected.signal,
    );
    if (run.delivered) {
      if (!isReplayable(result)) throw cannotReplay();
      reply.header('idempotent-replayed', 'true');
    }
    const beforeTheEnd =
      key === undefined || run.delivered
        ? undefined
        : () => this.delivery.note(reply, workspaceId, key, run.runId);
    // What the run failed with is its result too, and is sent in one piece.
    if (result.outcome !== 'succeeded') await beforeTheEnd?.();
    await this.payloads.send(reply.code(200), outputOf(result), beforeTheEnd);
  }
}
