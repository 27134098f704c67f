import type { Model } from '#catalog';
import { RouterError } from '#errors';
import { failpoint, Metrics } from '#observability';
import { type Admission, AdmissionRepository, AnswerLost, RunReader } from '#persistence';
import { dispatchNow, type Transport } from '#queue';
import { Inject, Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import type { Caller } from '../auth/caller.js';
import { TRANSPORT } from '../infrastructure.module.js';
import { LostAdmissions } from './lost-admissions.js';
import { Payloads } from './payloads.js';
import { refusal, refusingLimits } from './refusal.js';

/** What admits a run beside the model: the call, and its identity for retries. */
interface AdmittingRequest {
  mode: Admission['mode'];
  requestId: string;
  /** Where the call is traced. */
  traceparent: string | undefined;
  route: string;
  origin: string;
  key: string | undefined;
  fingerprint: string | undefined;
  bytes: Buffer;
  reservedMicros: number;
}

/** A run that was admitted, by this call or by an earlier one with the same key. */
interface AdmittedRun {
  runId: string;
  position: number;
  /** What the URLs of its first answer started with. */
  origin: string;
  /** By a call before this one with the same key. */
  replayed: boolean;
  /** The key's result has gone out in full before. */
  delivered: boolean;
}

/** The second half of the one path in: admit in one round trip, then deliver. Refusals are thrown. */
@Injectable()
export class RunAdmission {
  constructor(
    private readonly admissions: AdmissionRepository,
    private readonly answers: RunReader,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly metrics: Metrics,
    private readonly payloads: Payloads,
    private readonly lost: LostAdmissions,
  ) {
    // From the start, so that the first refusal is a rise.
    for (const reason of refusingLimits) metrics.refusals.inc({ reason }, 0);
  }

  async admit(caller: Caller, model: Model, request: AdmittingRequest): Promise<AdmittedRun> {
    const { mode, requestId, traceparent, route, origin, key, fingerprint, bytes, reservedMicros } = request;
    const runId = v7();
    const body = await this.payloads.keepInput(runId, bytes);
    const measured = this.metrics.admissionSeconds.startTimer();
    const admitting = this.admissions.admit({
      runId,
      workspaceId: caller.workspaceId,
      model: model.id,
      provider: model.provider,
      mode,
      facts: {
        upstream: model.upstream,
        assets: model.assetPointers,
        chargesOnPolicyRejection: model.chargesOnPolicyRejection,
        budgetMs: model.budgetMs,
        ...(traceparent !== undefined && { traceparent }),
      },
      reservedMicros,
      call: {
        requestId,
        route,
        credential: caller.credential,
        origin,
        ...(key !== undefined && { idempotencyKey: key }),
      },
      ...(key !== undefined && fingerprint !== undefined && { key, fingerprint }),
      body,
    });
    const admitted = await admitting.finally(measured).catch((error: unknown) => {
      // With a key the caller's retry joins the run; without one nobody could collect it.
      if (error instanceof AnswerLost && key === undefined)
        void this.lost.withdraw(caller.workspaceId, model.id, runId);
      throw error;
    });
    if (admitted.kind !== 'admitted') await this.payloads.discardInput(body);
    switch (admitted.kind) {
      case 'refused':
        this.metrics.refusals.inc({ reason: admitted.limit });
        throw refusal(admitted);
      case 'existing':
        if (!admitted.matches) throw conflict('another request');
        return this.earlier(caller, admitted);
      case 'admitted':
        if (admitted.ready) await this.deliver(model.provider, admitted.runId);
        return {
          runId: admitted.runId,
          position: admitted.position,
          origin,
          replayed: false,
          delivered: false,
        };
    }
  }

  private async earlier(
    caller: Caller,
    { runId, delivered }: { runId: string; delivered: boolean },
  ): Promise<AdmittedRun> {
    const admission = await this.answers.admission(caller.workspaceId, runId);
    if (admission === null) throw noLongerKept();
    return { runId, ...admission, replayed: true, delivered };
  }

  /** Optimistic: what the transport does not take now, the delivery sweep brings within seconds. */
  private async deliver(provider: string, runId: string): Promise<void> {
    await this.transport.deliver(dispatchNow([{ runId, provider }]));
    await failpoint('submit.afterDeliver');
  }
}

/** The answer to a retry whose result has aged out. The key stays used: there is no second dispatch. */
export const noLongerKept = (): RouterError => conflict('a request that is no longer kept');

const conflict = (what: string) =>
  new RouterError('invalid_input', `This Idempotency-Key was used for ${what}.`, { status: 409 });
