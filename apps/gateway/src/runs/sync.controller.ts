import { Controller, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { QueryPipe } from '../http/query.pipe.js';
import { callerGone } from '../http/replies.js';
import type { ModelSegments } from '../models/find-model.js';
import { RouterError } from '#errors';
import { ApiRoute } from '../http/api-route.js';
import { DeliveredResults } from './held/delivered-results.js';
import { EventStreams } from './held/event-streams.js';
import { HeldRuns } from './held/held-runs.js';
import { HeldShares } from './held/held-shares.js';
import { outputOf, settledHeaders } from './found-run.js';
import { RunPayloads } from './run-payloads.js';
import { RunAdmission } from './run-admission.js';
import { runModel, serverQuery } from './run-routes.js';

/** Synchronous delivery: the queued path with a held connection. */
@Controller(['v1/models', 'v2/models'])
export class SyncController {
  constructor(
    private readonly admission: RunAdmission,
    private readonly held: HeldRuns,
    private readonly shares: HeldShares,
    private readonly delivered: DeliveredResults,
    private readonly payloads: RunPayloads,
    private readonly events: EventStreams,
  ) {}

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
    this.shares.holdConnection(reply, caller.workspaceId);
    const gone = callerGone(reply);
    const { run, outcome } = await this.held.holdRun(
      (onAccepted) =>
        this.admission.admitRun({ request, reply, caller, segments, mode: 'sync', picked, alt, onAccepted }),
      gone,
    );
    if (run.streams && (await this.events.sendEvents(reply, run.runId, outcome))) return;
    const result = await outcome;
    // The provider's URLs may have expired since the first delivery, so the result cannot be repeated.
    const isOnce = result.outcome === 'succeeded' && result.providerUrls;
    if (isOnce && run.delivered)
      throw new RouterError(
        'invalid_input',
        'The result of this Idempotency-Key was already delivered and cannot be repeated; use a new key for a new run.',
        { status: 409 },
      );
    reply.headers(settledHeaders(result));
    await this.payloads.sendOutput(reply.code(200), outputOf(result));
    const { workspaceId, key, runId } = run;
    if (isOnce && key !== undefined) this.delivered.noteWhenSent(reply, { workspaceId, key, runId });
  }
}
