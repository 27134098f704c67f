import { failpoint, Metrics, runAttributes } from '#observability';
import {
  type Admission,
  AdmissionRepository,
  type AdmissionWindow,
  AnswerLost,
  lineOf,
  processName,
  type WebhookAddress,
} from '#persistence';
import { RunQueues } from '#queue';
import type { Attribution } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { pathTemplate } from '../answers/request-path.js';
import { namePayer, nameRun } from '../answers/run-of-call.js';
import { nameSubmission } from '../answers/submissions.js';
import { nameUnknownFields } from '../answers/unknown-fields.js';
import { attributionOfCall } from './attribution.js';
import { attemptOf } from './held/delivered-results.js';
import { conflict, JoinedRuns } from './joined-runs.js';
import { RunCancellation } from './run-cancellation.js';
import { RunPayloads } from './run-payloads.js';
import { refusal, refusingLimits } from './refusal.js';
import { type AcceptedInput, type AdmittedRun, factsOf, type RunCall, RunInput } from './run-input.js';

/**
 * A call, and the options of its run. `onAccepted` is called just before the run is admitted, `onWindow` when it has counted
 * in the workspace's window or was refused.
 */
export interface WantedRun extends RunCall {
  reply: FastifyReply;
  mode: Admission['mode'];
  webhook?: WebhookAddress | undefined;
  onAccepted?: (runId: string) => void;
  onWindow?: (window: AdmissionWindow) => void;
}

/**
 * The only way in, for queued and synchronous runs: accepts the input, admits the run in one round trip, and enqueues
 * it.
 */
@Injectable()
export class RunAdmission {
  constructor(
    private readonly input: RunInput,
    private readonly admissions: AdmissionRepository,
    private readonly payloads: RunPayloads,
    private readonly joined: JoinedRuns,
    private readonly queues: RunQueues,
    private readonly cancellation: RunCancellation,
    private readonly metrics: Metrics,
  ) {
    // The counters start at 0, so that the first refusal shows as an increase.
    for (const reason of refusingLimits) metrics.refusals.inc({ reason }, 0);
  }

  /** Returns the run that the call begins or joins. Throws if the call is rejected. */
  async admitRun(call: WantedRun): Promise<AdmittedRun> {
    nameSubmission(call.reply, call.segments);
    const attribution = attributionOfCall(call.request.headers, call.caller);
    const input = await this.input.acceptInput(call);
    if (input.kind === 'replay') return this.joined.joinRun(call, input);
    nameUnknownFields(call.reply, input.candidates[0].unknownFields);
    try {
      call.onAccepted?.(input.runId);
      return await this.admit(call, input, attribution);
    } finally {
      input.release();
    }
  }

  private async admit(
    call: WantedRun,
    input: AcceptedInput,
    attribution: Attribution | undefined,
  ): Promise<AdmittedRun> {
    const { request, reply, caller, mode, webhook } = call;
    const { runId, model, key, fingerprint, body, candidates } = input;
    const [{ row, price, streams, ownKey }] = candidates;
    const { workspaceId } = caller;
    // Only a held connection can break before the result, so an equal submission to the queue is another run.
    const unkeyed = key === undefined && mode === 'sync' ? fingerprint : undefined;
    const origin = request.publicOrigin;
    request.span?.set({ ...runAttributes({ model: model.id }), ...spanAttributes(attribution) });
    const measured = this.metrics.admissionSeconds.startTimer();
    const facts = factsOf(model, candidates, {
      callId: request.id,
      traceparent: request.span?.traceparent,
      isLive: mode === 'sync',
      patienceMs: call.patienceMs,
    });
    const admitting = this.admissions.admitRun({
      runId,
      workspaceId,
      model: model.id,
      provider: row.provider,
      mode,
      facts,
      reservedMicros: Math.max(...candidates.map((each) => each.price.upperMicros)),
      likelyMicros: Math.max(
        ...candidates.map(({ price: { likelyMicros, upperMicros } }) => likelyMicros ?? upperMicros),
      ),
      computedMicros: price.computedMicros,
      credential: caller.credential,
      call: {
        requestId: request.id,
        route: `POST ${pathTemplate(request.routeOptions.url ?? '')}`,
        origin,
        ...(key !== undefined && { idempotencyKey: key }),
        ...(webhook && { webhook }),
        ...(attribution && { attribution }),
      },
      ...(key !== undefined && fingerprint !== undefined && { key, fingerprint }),
      ...(unkeyed !== undefined && {
        heldBy: processName,
        fingerprint: unkeyed,
        attempt: attemptOf(request),
      }),
      body,
    });
    const admitted = await admitting.finally(measured).catch((error: unknown) => {
      // With a key, the caller's retry joins the run. Without one, the run could never be collected.
      if (error instanceof AnswerLost && key === undefined)
        void this.cancellation.withdrawRun(workspaceId, model.id, runId);
      throw error;
    });
    if (hasWindow(admitted)) call.onWindow?.(admitted);
    if (admitted.kind === 'admitted') {
      if (admitted.ready) {
        this.queues.wake(lineOf({ provider: row.provider, workspaceId, facts }));
        await failpoint('submit.afterDeliver');
      }
      const { position } = admitted;
      nameRun(reply, runId);
      namePayer(reply, ownKey !== undefined);
      request.span?.set(runAttributes({ provider: row.provider }));
      const isFirst = { replayed: false, delivered: false };
      return {
        workspaceId,
        modelId: model.id,
        key,
        unkeyed,
        runId,
        position,
        origin,
        streams: streams !== undefined,
        ...isFirst,
      };
    }
    await this.payloads.discardInput(body);
    if (admitted.kind === 'refused') {
      this.metrics.refusals.inc({ reason: admitted.limit });
      throw refusal(admitted, price.lowering);
    }
    if (!admitted.matches) throw conflict('another request');
    return this.joined.joinRun(call, { ...admitted, modelId: model.id, key, unkeyed });
  }
}

const hasWindow = (admitted: object): admitted is AdmissionWindow => 'windowLimit' in admitted;

/** Whom the run is counted for, in the trace: `router.user`, and `router.tag.<name>` for each tag. */
const spanAttributes = (attribution: Attribution = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attribution).map(([dimension, value]) => [`router.${dimension.replace(':', '.')}`, value]),
  );
