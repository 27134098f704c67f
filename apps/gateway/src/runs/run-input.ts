import { createHash, type Hash } from 'node:crypto';
import { LiveCatalog, type Model, visibleProvider } from '#catalog';
import { RouterError } from '#errors';
import { type PayloadBody, type RunFacts, RunReader } from '#persistence';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { BodyChecker } from '../bodies/body-checker.js';
import { BodyReader } from '../bodies/body-reader.js';
import type { Terms } from '../bodies/check-thread.js';
import type { ModelSegments } from '../models/find-model.js';
import { ModelServers } from '../models/model-servers.js';
import { newId } from '../http/new-id.js';
import { Payloads } from './payloads.js';

/** A server, and how it takes the input. */
interface Serving extends Terms {
  row: Model;
}

/** A run that may be admitted. */
interface AcceptedInput {
  runId: string;
  model: Model;
  key: string | undefined;
  /** What a retry with the same key must repeat. */
  fingerprint: string | undefined;
  /** The input as the run's row will hold it. */
  body: PayloadBody;
  /** Who serves it, and who does when those before provably did not take it. */
  servings: [Serving, ...Serving[]];
  /** Gives back the input's share of the budget for bodies. */
  release: () => void;
}

/** Thrown instead of a refusal for a call that repeats one which was admitted: its run is there to be collected. */
export class Retry extends Error {
  constructor(
    readonly modelId: string,
    readonly key: string,
    readonly earlier: { runId: string; delivered: boolean },
  ) {
    super('the call repeats an earlier one');
    this.name = 'Retry';
  }
}

/** Turns a call into the input of a run: finds the model, then reads, checks and stores the body. */
@Injectable()
export class RunInput {
  constructor(
    private readonly servers: ModelServers,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
    private readonly payloads: Payloads,
    private readonly runs: RunReader,
    private readonly catalog: LiveCatalog,
  ) {}

  /**
   * Throws `InputRejection` for fields that the model does not accept, and `RouterError` for every other refusal; in place
   * of either `Retry` when the call repeats one whose run is known.
   */
  async accept(
    request: FastifyRequest,
    caller: Caller,
    segments: ModelSegments,
    picked: string | undefined,
  ): Promise<AcceptedInput> {
    const { model, servers } = await this.servers
      .forRun(caller, segments, picked)
      .catch((refusal: unknown) => this.unlessRetry(refusal, request, caller, segments));
    const key = idempotencyKey(request.headers['idempotency-key']);
    const fingerprint = key === undefined ? undefined : fingerprintOf(request, model);
    const { bytes, release } = await this.bodies.read(request.raw, caller.workspaceId, {
      seen: (chunk) => fingerprint?.update(chunk),
    });
    try {
      const checked = await this.checker
        .check(caller.workspaceId, servers, bytes)
        .catch(async (refusal: unknown) => {
          if (key === undefined) throw refusal;
          const earlier = await this.runs.admittedWith(caller.workspaceId, key);
          if (earlier === null || earlier.fingerprint !== fingerprint?.digest('hex')) throw refusal;
          throw new Retry(model.id, key, earlier);
        });
      const runId = newId();
      const body = await this.payloads.keepInput(runId, checked.bytes);
      const rows = new Map(servers.map((row) => [row.id, row]));
      const serving = (terms: Terms): Serving => ({ ...terms, row: rows.get(terms.server) ?? model });
      const [first, ...others] = checked.terms;
      return {
        runId,
        model,
        key,
        fingerprint: fingerprint?.digest('hex'),
        body,
        servings: [serving(first), ...others.map(serving)],
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A retry collects its run, also when the caller may no longer run the model or there is none any more. */
  private async unlessRetry(
    refusal: unknown,
    request: FastifyRequest,
    { workspaceId }: Caller,
    { provider, model }: ModelSegments,
  ): Promise<never> {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string' || !visibleAscii.test(key)) throw refusal;
    // Only then is the body of a refused call of interest.
    const earlier = await this.runs.admittedWith(workspaceId, key);
    if (earlier === null) throw refusal;
    const modelId = this.catalog.current.idOf(`${provider}/${model}`);
    const fingerprint = fingerprintOf(request, { id: modelId });
    const { release } = await this.bodies.read(request.raw, workspaceId, {
      seen: (chunk) => fingerprint.update(chunk),
    });
    release();
    throw earlier.fingerprint === fingerprint.digest('hex') ? new Retry(modelId, key, earlier) : refusal;
  }

  /** To be called for an input whose run was not admitted. */
  discard({ body }: AcceptedInput): Promise<void> {
    return this.payloads.discardInput(body);
  }
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The Idempotency-Key of the call; undefined without one. Anything but 1 to 255 visible ASCII characters: 400. */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && visibleAscii.test(header))) return header;
  throw new RouterError('invalid_input', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/**
 * What makes two requests the same: method, path and query, whichever of its names the caller gave to the model; then
 * the bytes of the body as they are added.
 */
export function fingerprintOf(
  { originalUrl, routeOptions }: Pick<FastifyRequest, 'originalUrl' | 'routeOptions'>,
  { id }: Pick<Model, 'id'>,
): Hash {
  const query = originalUrl.indexOf('?');
  const path = `${routeOptions.url?.replace(':provider/:model', id)}${query < 0 ? '' : originalUrl.slice(query)}`;
  return createHash('sha256').update(`POST ${path}\n`);
}

/** What the run's row holds of the first of its servers, and in it of the next. */
export function factsOf(
  model: Model,
  [{ row, price, upstream, missingMembers: members }, next, ...others]: [Serving, ...Serving[]],
  traceparent: string | undefined,
): RunFacts {
  return {
    upstream,
    assets: row.assetPointers,
    chargesOnPolicyRejection: row.chargesOnPolicyRejection,
    budgetMs: row.budgetMs,
    basis: price.basis,
    reported: price.reported,
    members,
    ...(traceparent !== undefined && { traceparent }),
    ...(model.servers.length > 0 && { server: visibleProvider(row.id) }),
    ...(next && {
      fallback: {
        provider: next.row.provider,
        computedMicros: next.price.computedMicros,
        facts: factsOf(model, [next, ...others], traceparent),
      },
    }),
  };
}
