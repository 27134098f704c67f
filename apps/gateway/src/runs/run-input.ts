import { LiveCatalog, type Model, type Quote } from '#catalog';
import { RouterError } from '#errors';
import type { PayloadBody } from '#persistence';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { v7 } from 'uuid';
import type { Caller } from '../auth/caller.js';
import { BodyChecker } from '../bodies/body-checker.js';
import type { CheckedInput } from '../bodies/check-thread.js';
import { BodyReader } from '../bodies/body-reader.js';
import { type ModelSegments, runnableModel } from '../models/find-model.js';
import { ProviderKeys } from '../models/provider-keys.js';
import { Fingerprint, idempotencyKey } from './idempotency-key.js';
import { Payloads } from './payloads.js';

/** A run that may be admitted. */
interface AcceptedInput {
  runId: string;
  model: Model;
  key: string | undefined;
  /** What a retry with the same key must repeat. */
  fingerprint: string | undefined;
  /** The input as the run's row will hold it. */
  body: PayloadBody;
  /** What the run can cost. */
  price: Quote;
  /** What the worker puts in front of the body's own members. */
  members: CheckedInput['missingMembers'];
  upstream: CheckedInput['upstream'];
  /** Gives back the input's share of the budget for bodies. */
  release: () => void;
}

/** Path and query, whichever of its names the caller gave to the model. */
function addressOf({ originalUrl, routeOptions }: FastifyRequest, { id }: Model): string {
  const query = originalUrl.indexOf('?');
  return `${routeOptions.url?.replace(':provider/:model', id)}${query < 0 ? '' : originalUrl.slice(query)}`;
}

/** Turns a call into the input of a run: finds the model, then reads, checks and stores the body. */
@Injectable()
export class RunInput {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly keys: ProviderKeys,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
    private readonly payloads: Payloads,
  ) {}

  /** Throws `InputRejection` for fields that the model does not accept, and `RouterError` for every other refusal. */
  async accept(request: FastifyRequest, caller: Caller, segments: ModelSegments): Promise<AcceptedInput> {
    const model = runnableModel(this.catalog.current, caller, segments);
    if (!(await this.keys.hasNow(model.provider))) {
      throw new RouterError('not_enabled', `The provider ${model.provider} is not set up on this router.`);
    }
    const key = idempotencyKey(request.headers);
    const fingerprint = key === undefined ? undefined : new Fingerprint('POST', addressOf(request, model));
    const { bytes, release } = await this.bodies.read(request.raw, caller.workspaceId, (chunk) =>
      fingerprint?.add(chunk),
    );
    try {
      const checked = await this.checker.check(model, bytes);
      const runId = v7();
      const body = await this.payloads.keepInput(runId, checked.bytes);
      const { price, missingMembers: members, upstream } = checked;
      return {
        runId,
        model,
        key,
        fingerprint: fingerprint?.digest(),
        body,
        price,
        members,
        upstream,
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** To be called for an input whose run was not admitted. */
  discard({ body }: AcceptedInput): Promise<void> {
    return this.payloads.discardInput(body);
  }
}
