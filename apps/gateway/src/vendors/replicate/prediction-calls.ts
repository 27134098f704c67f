import { SETTINGS } from '#infrastructure';
import { RouterError } from '#errors';
import type { WebhookSettings } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameSubmission } from '../../answers/submissions.js';
import { identifyCaller } from '../../auth/caller.guard.js';
import { Identification } from '../../auth/identification.js';
import { foundRun } from '../../runs/found-run.js';
import { HeldShares } from '../../runs/held/held-shares.js';
import { RunAdmission, type WantedRun } from '../../runs/run-admission.js';
import { RunCancellation } from '../../runs/run-cancellation.js';
import { fingerprintOfPath, RunInput } from '../../runs/run-input.js';
import { webhookAddress } from '../../runs/webhook-address.js';
import { scannedMembers } from '../scanned-members.js';
import type { VendorPath } from '../serve-vendor.js';
import { VendorLists } from '../vendor-lists.js';
import { nameInPath, VendorModels } from '../vendor-models.js';
import type { VendorRoute } from '../vendor.js';
import { newPrediction, waitMsOf } from './new-prediction.js';
import { Predictions } from './predictions.js';
import { replicateApi } from './replicate-api.js';

const webhookForm = { name: 'webhook', form: 'replicate' } as const;

/** Answers the calls of Replicate's clients. A prediction is a queued run, which a call may wait for. */
@Injectable()
export class PredictionCalls {
  constructor(
    private readonly identification: Identification,
    private readonly input: RunInput,
    private readonly admission: RunAdmission,
    private readonly cancellation: RunCancellation,
    private readonly shares: HeldShares,
    private readonly predictions: Predictions,
    private readonly models: VendorModels,
    private readonly lists: VendorLists,
    @Inject(SETTINGS) private readonly settings: WebhookSettings,
  ) {}

  paths(): VendorPath[] {
    return [
      ...this.lists.pathsOf(replicateApi, '/models/{owner}/{model}'),
      ...replicateApi.routes.map((route): VendorPath => ({
        method: 'POST',
        path: route.path,
        answer: (request, reply) => this.create(route, request, reply),
      })),
      {
        method: 'GET',
        path: '/predictions/{id}',
        answer: (request, reply) => this.get(request, reply),
      },
      {
        method: 'POST',
        path: '/predictions/{id}/cancel',
        answer: (request, reply) => this.cancel(request, reply),
      },
    ];
  }

  private async create(
    route: VendorRoute,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const caller = await identifyCaller(this.identification, request, 'run');
    nameSubmission(reply);
    const waitMs = waitMsOf(request.headers['prefer']);
    // Before the run, so that a refusal leaves none.
    if (waitMs > 0) this.shares.holdConnection(reply, caller.workspaceId);
    const run = await this.admission.admitRun(await this.callOf(route, { request, reply, caller }));
    if (waitMs > 0) await this.predictions.wait(run, waitMs, reply);
    return this.predictions.send(run, reply, { isNew: true });
  }

  private async callOf(
    route: VendorRoute,
    { request, reply, caller }: Pick<WantedRun, 'request' | 'reply' | 'caller'>,
  ): Promise<WantedRun> {
    const { members, seen } = scannedMembers(['input']);
    const body = await this.input.readBody(
      { request, caller },
      () => fingerprintOfPath(request.originalUrl, request.headers),
      seen,
    );
    try {
      const { input, webhook, ...inBody } = newPrediction(body.bytes, members.placeOf('input'));
      const name = nameInPath(request) ?? inBody.name;
      if (name === undefined)
        throw new RouterError('invalid_input', 'version or model is required.', { status: 422 });
      return {
        request,
        reply,
        caller,
        ...this.models.targetOf(caller, replicateApi, route, name),
        mode: 'queued',
        body: { ...body, bytes: input },
        webhook: webhook === undefined ? undefined : webhookAddress(webhook, webhookForm, this.settings),
      };
    } catch (error) {
      body.release();
      throw error;
    }
  }

  private async get(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return this.predictions.send(await this.named(request), reply);
  }

  /** A prediction that has ended stays as it is, as at Replicate. */
  private async cancel(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const run = await this.named(request);
    const { workspaceId, modelId, runId } = run;
    foundRun(await this.cancellation.cancelRun(workspaceId, modelId, runId), runId);
    return this.predictions.send(run, reply);
  }

  private async named(request: FastifyRequest) {
    const caller = await identifyCaller(this.identification, request, 'run');
    return this.predictions.find(caller, (request.params as { id: string }).id);
  }
}
