import { RouterError } from '#errors';
import { type Log, LOG } from '#observability';
import { CallRepository, RunReader } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { namePayer, nameRun } from '../answers/run-of-call.js';
import type { AdmittedRun, NamedRun, RunCall } from './run-input.js';

/** Answers calls that repeat the call of an earlier run. */
@Injectable()
export class JoinedRuns {
  constructor(
    private readonly runs: RunReader,
    private readonly calls: CallRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /**
   * Returns the run of the earlier call. Every answer from here on, errors included, names the run and, if the calls have
   * a key, is marked as replayed.
   */
  async joinRun(
    {
      request,
      reply,
      caller: { workspaceId },
    }: Pick<RunCall, 'request' | 'caller'> & { reply: FastifyReply },
    { modelId, key, unkeyed, runId, delivered }: NamedRun,
  ): Promise<AdmittedRun> {
    nameRun(reply, runId);
    if (key !== undefined) void reply.header('idempotent-replayed', 'true');
    const [first] = await Promise.all([
      this.runs.admission(workspaceId, runId),
      this.noteJoin(workspaceId, runId, request.id),
    ]);
    if (first === null) throw noLongerKept();
    namePayer(reply, first.ownKey);
    return { ...first, workspaceId, modelId, key, unkeyed, runId, replayed: true, delivered };
  }

  /** So that the run is found by the id of this call. The answer does not depend on it. */
  private async noteJoin(workspaceId: string, runId: string, callId: string): Promise<void> {
    await this.calls.noteJoin(workspaceId, runId, callId).catch((error: unknown) => {
      this.log.warn(
        { error, run_id: runId, request_id: callId },
        'could not record that a call joined a run',
      );
    });
  }
}

/**
 * The answer to a retry whose result has aged out. The key stays used, so the run is not dispatched a second time.
 */
export const noLongerKept = (): RouterError => conflict('a request that is no longer kept');

export const conflict = (what: string) =>
  new RouterError('invalid_input', `This Idempotency-Key was used for ${what}.`, { status: 409 });
