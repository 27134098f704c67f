import { RouterError } from '#errors';
import { failpoint, Metrics } from '#observability';
import {
  type Admission,
  AdmissionRepository,
  AnswerLost,
  RunReader,
  type WebhookAddress,
} from '#persistence';
import { RunQueues } from '#queue';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import type { ModelSegments } from '../models/find-model.js';
import { LostAdmissions } from './lost-admissions.js';
import { refusal, refusingLimits } from './refusal.js';
import { factsOf, Retry, RunInput } from './run-input.js';

/** A run that was admitted, by this call or by an earlier one with the same key. */
export interface AdmittedRun {
  workspaceId: string;
  modelId: string;
  runId: string;
  key: string | undefined;
  position: number;
  /** What the URLs of its first answer started with. */
  origin: string;
  /** By a call before this one with the same key. */
  replayed: boolean;
  /** The key's result has gone out in full before. */
  delivered: boolean;
}

/** How the call wants its run. `onAccepted` is called just before the run is admitted. */
interface Wanted {
  mode: Admission['mode'];
  /** The server that the caller picks. */
  picked?: string | undefined;
  webhook?: WebhookAddress | undefined;
  onAccepted?: (runId: string) => void;
}

/** The one path in, of both ways of delivery: accept the input, admit the run in one round trip, enqueue it. */
@Injectable()
export class RunAdmission {
  constructor(
    private readonly input: RunInput,
    private readonly admissions: AdmissionRepository,
    private readonly runs: RunReader,
    private readonly queues: RunQueues,
    private readonly lost: LostAdmissions,
    private readonly metrics: Metrics,
  ) {
    // From the start, so that the first refusal is a rise.
    for (const reason of refusingLimits) metrics.refusals.inc({ reason }, 0);
  }

  /** The run that the call begins or joins, served by the provider that was picked; refusals are thrown. */
  async admitFrom(
    request: FastifyRequest,
    caller: Caller,
    segments: ModelSegments,
    wanted: Wanted,
  ): Promise<AdmittedRun> {
    const run = await this.beginOrJoin(request, caller, segments, wanted);
    request.runId = run.runId;
    return run;
  }

  private async beginOrJoin(
    request: FastifyRequest,
    caller: Caller,
    segments: ModelSegments,
    wanted: Wanted,
  ): Promise<AdmittedRun> {
    try {
      const input = await this.input.accept(request, caller, segments, wanted.picked);
      try {
        wanted.onAccepted?.(input.runId);
        return await this.admit(request, caller, input, wanted);
      } finally {
        input.release();
      }
    } catch (error) {
      if (!(error instanceof Retry)) throw error;
      const { modelId, key, earlier } = error;
      return this.joined(caller, { modelId, key, ...earlier });
    }
  }

  private async admit(
    request: FastifyRequest,
    caller: Caller,
    input: Awaited<ReturnType<RunInput['accept']>>,
    { mode, webhook }: Wanted,
  ): Promise<AdmittedRun> {
    const { runId, model, key, fingerprint, body, servings } = input;
    const [{ row, price }] = servings;
    const { workspaceId } = caller;
    const origin = request.publicOrigin;
    const traceparent = request.span?.traceparent;
    const measured = this.metrics.admissionSeconds.startTimer();
    const admitting = this.admissions.admitRun({
      runId,
      workspaceId,
      model: model.id,
      provider: row.provider,
      mode,
      facts: factsOf(model, servings, traceparent),
      reservedMicros: Math.max(...servings.map((each) => each.price.upperMicros)),
      computedMicros: price.computedMicros,
      credential: caller.credential,
      call: {
        requestId: request.id,
        route: `POST ${request.routeOptions.url?.replaceAll(/:(\w+)/g, '{$1}')}`,
        origin,
        ...(key !== undefined && { idempotencyKey: key }),
        ...(webhook && { webhook }),
      },
      ...(key !== undefined && fingerprint !== undefined && { key, fingerprint }),
      body,
    });
    const admitted = await admitting.finally(measured).catch((error: unknown) => {
      // With a key the caller's retry joins the run; without one nobody could collect it.
      if (error instanceof AnswerLost && key === undefined)
        void this.lost.withdraw(workspaceId, model.id, runId);
      throw error;
    });
    if (admitted.kind === 'admitted') {
      if (admitted.ready) await this.enqueue(row.provider, runId);
      const { position } = admitted;
      return {
        workspaceId,
        modelId: model.id,
        key,
        runId,
        position,
        origin,
        replayed: false,
        delivered: false,
      };
    }
    await this.input.discard(input);
    if (admitted.kind === 'refused') {
      this.metrics.refusals.inc({ reason: admitted.limit });
      throw refusal(admitted);
    }
    if (!admitted.matches) throw conflict('another request');
    const { delivered } = admitted;
    return this.joined(caller, { modelId: model.id, key, runId: admitted.runId, delivered });
  }

  /** The run of a call before this one with the same key. */
  private async joined(
    { workspaceId }: Caller,
    { modelId, key, runId, delivered }: Pick<AdmittedRun, 'modelId' | 'key' | 'runId' | 'delivered'>,
  ): Promise<AdmittedRun> {
    const first = await this.runs.admission(workspaceId, runId);
    if (first === null) throw noLongerKept();
    return { ...first, workspaceId, modelId, key, runId, replayed: true, delivered };
  }

  /** Optimistic: the reconciler repeats within seconds what the queue does not take now. */
  private async enqueue(provider: string, runId: string): Promise<void> {
    await this.queues.enqueueGranted([{ runId, provider }]);
    await failpoint('submit.afterDeliver');
  }
}

/** The answer to a retry whose result has aged out. The key stays used: there is no second dispatch. */
export const noLongerKept = (): RouterError => conflict('a request that is no longer kept');

const conflict = (what: string) =>
  new RouterError('invalid_input', `This Idempotency-Key was used for ${what}.`, { status: 409 });
