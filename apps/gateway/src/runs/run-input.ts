import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import {
  LiveCatalog,
  type Model,
  priceDigest,
  type ServerTerms,
  tokenCounter,
  visibleProvider,
} from '#catalog';
import { RouterError } from '#errors';
import { type PayloadBody, type RunFacts, RunReader } from '#persistence';
import { headersFor, inputHeaderNames, type InputHeaders, inputHeadersOf, pricedValueIn } from '#providers';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { BodyChecker } from '../bodies/body-checker.js';
import { BodyReader } from '../bodies/body-reader.js';
import type { ModelSegments } from '../models/find-model.js';
import { ModelServers, ownKeyOf } from '../models/model-servers.js';
import { newId } from '../http/new-id.js';
import { Overshoots } from './overshoots.js';
import { RunPayloads } from './run-payloads.js';

/** A server that accepts the input, and its terms. */
interface Candidate extends ServerTerms {
  row: Model;
  /** The workspace's own key that the run would use there. */
  ownKey: string | undefined;
  /** Whether the simulator serves it. */
  simulated: boolean;
  /** The headers of the call that it reads as a part of the input. */
  headers: InputHeaders;
}

/** The maximum size of the headers that are input, together. */
const maxHeaderBytes = 8 * 1024;

/** Servers in order of preference. The next one is tried only if the previous one provably rejected the run. */
type Candidates = [Candidate, ...Candidate[]];

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the client repeats a failed call by itself, without an Idempotency-Key. */
    isRepeatedByClient?: boolean;
  }
}

/** A call for a run. */
export interface RunCall {
  request: FastifyRequest;
  caller: Caller;
  segments: ModelSegments;
  /** The server that the caller picks. */
  picked: string | undefined;
  /** The kind of reply that the query requests; see `CallQuery`. */
  alt?: string | undefined;
  /** Whether the call counts the tokens of an input instead of running the model. */
  countsTokens?: boolean | undefined;
  /** How long the run waits for a provider that does not accept it, if less than its time budget. */
  patienceMs?: number | undefined;
  /** The body, if it was read already, because it names the model. */
  body?: ReadBody | undefined;
  /** Why the call cannot begin a run. It may still collect an earlier one. */
  refusal?: RouterError | undefined;
}

/** The body of a call. `release` gives back its memory budget. */
interface ReadBody {
  bytes: Buffer;
  /** A hash of the request, if an equal call may join its run. */
  fingerprint: string | undefined;
  release: () => void;
}

/** The input of a run that may be admitted. */
export interface AcceptedInput {
  kind: 'input';
  runId: string;
  model: Model;
  key: string | undefined;
  /** A hash of the request, which a retry with the same key must match. Without a key, an equal call counts as a retry. */
  fingerprint: string | undefined;
  /** The input as the run's row will store it. */
  body: PayloadBody;
  candidates: Candidates;
  /** Gives back the input's share of the budget for bodies. */
  release: () => void;
}

/** A run, and the Idempotency-Key that also names it. */
export interface NamedRun {
  modelId: string;
  runId: string;
  key: string | undefined;
  /** Whether the result was already delivered in full. Recorded only for results that cannot be repeated. */
  delivered: boolean;
  /** The hash by which an equal call joins the run of a call without a key, if the result of this one is not delivered. */
  unkeyed?: string | undefined;
}

/** A run that was admitted, by this call or by an earlier one with the same key. */
export interface AdmittedRun extends NamedRun {
  workspaceId: string;
  position: number;
  /** The base of the URLs in its first answer. */
  origin: string;
  /** Whether an earlier call with the same key admitted it. */
  replayed: boolean;
  /** Whether the provider's events are passed on while they arrive. */
  streams: boolean;
}

/** The run of an earlier call with the same key. */
interface Replay extends NamedRun {
  kind: 'replay';
}

/** Turns a call into the input of a run: finds the model, then reads, checks and stores the body. */
@Injectable()
export class RunInput {
  constructor(
    private readonly servers: ModelServers,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
    private readonly payloads: RunPayloads,
    private readonly runs: RunReader,
    private readonly catalog: LiveCatalog,
    private readonly overshoots: Overshoots,
  ) {}

  /**
   * Throws `InputRejection` for fields that the model does not accept, and `RouterError` for every other rejection. A
   * retry of an admitted call is not rejected: it collects its run, even if the caller may no longer run the model or
   * the model has been removed.
   */
  async acceptInput(call: RunCall): Promise<AcceptedInput | Replay> {
    const { request, caller, segments, picked, alt } = call;
    let found: Awaited<ReturnType<ModelServers['forRun']>>;
    let headers: InputHeaders;
    try {
      if (call.refusal !== undefined) throw call.refusal;
      found = await this.servers.forRun(caller, segments, picked);
      if (call.countsTokens) found = { ...found, servers: [tokenCounter(found.servers[0])] };
      headers = this.headersOf(request.headers, found.model);
    } catch (refusal) {
      const modelId = this.catalog.current.idOf(`${segments.provider}/${segments.model}`);
      return this.replayOr(refusal, call, modelId, async () => {
        const { fingerprint, release } = await this.bodyOf(call, modelId);
        release();
        return fingerprint;
      }).finally(() => call.body?.release());
    }
    const { model, servers } = found;
    const key = idempotencyKey(request.headers['idempotency-key']);
    const { bytes, fingerprint, release } = await this.bodyOf(call, model.id);
    try {
      const checked = await this.checker.checkBody(caller.workspaceId, servers, bytes, { alt });
      if (!caller.allowProviderTools && checked.terms.some(({ price }) => price.usesProviderTools))
        throw new RouterError(
          'forbidden',
          'This workspace does not allow tools that run at the provider, such as searches. Its setting allow_provider_tools forbids them.',
        );
      const runId = newId();
      const body = await this.payloads.keepInput(runId, checked.bytes);
      const candidate = (terms: ServerTerms): Candidate => {
        const row = servers.find(({ id }) => id === terms.server) ?? model;
        const ownKey = ownKeyOf(caller, row.provider);
        const simulated = this.servers.isSimulatedServer(row);
        return { ...terms, row, ownKey, simulated, headers: headersFor(headers, row.inputHeaders) };
      };
      const [terms, ...otherTerms] = this.overshoots.lifted(servers, checked.terms);
      const first = candidate(terms);
      // A run has one payer: it never moves from a key of the operator to one of the workspace, or back.
      const others = otherTerms
        .map(candidate)
        .filter(({ ownKey }) => !ownKey === !first.ownKey)
        .filter((other) => isDeepStrictEqual(other.headers, first.headers));
      const candidates: Candidates = [first, ...others];
      return { kind: 'input', runId, model, key, fingerprint, body, candidates, release };
    } catch (refusal) {
      release();
      return this.replayOr(refusal, call, model.id, () => fingerprint);
    }
  }

  /** The headers of a call that are input. Throws a 400 for a value that cannot be sent or that the row does not price. */
  private headersOf(given: IncomingHttpHeaders, row: Model): InputHeaders {
    const headers = inputHeadersOf(given);
    const text = Object.values(headers).join('');
    if (text.length > maxHeaderBytes || !/^[\x20-\x7e]*$/.test(text))
      throw new RouterError(
        'invalid_input',
        `The headers ${inputHeaderNames.join(', ')} must be visible ASCII of at most ${maxHeaderBytes} bytes together.`,
      );
    const priced = pricedValueIn(headers, row.inputHeaders, row.priced_headers);
    if (priced !== undefined)
      throw new RouterError(
        'invalid_input',
        `The router does not know the price of the header ${priced}, so it takes no call with it.`,
      );
    return headers;
  }

  /**
   * Reads the body of a call. It is added to `fingerprint`, which gets the call's Idempotency-Key. `seen` gets each
   * chunk as it arrives.
   */
  async readBody(
    { request, caller }: Pick<RunCall, 'request' | 'caller'>,
    fingerprint: (key: string | undefined) => Hash | undefined,
    seen?: (chunk: Buffer) => void,
  ): Promise<ReadBody> {
    const hash = fingerprint(idempotencyKey(request.headers['idempotency-key']));
    const { bytes, release } = await this.bodies.readBody(request.raw, caller.workspaceId, {
      seen: (chunk) => {
        hash?.update(chunk);
        seen?.(chunk);
      },
    });
    return { bytes, release, fingerprint: hash?.digest('hex') };
  }

  private async bodyOf(call: RunCall, modelId: string): Promise<ReadBody> {
    const fingerprint = () => fingerprintOf(call.request, modelId);
    if (call.body !== undefined) return call.body;
    return this.readBody(call, (key) => {
      if (key !== undefined) return fingerprint();
      return call.request.isRepeatedByClient
        ? fingerprint().update(`${call.caller.credential}\n`)
        : undefined;
    });
  }

  /**
   * The run that the call repeats; throws the refusal if there is none. Calls `fingerprint` only if the key is in
   * use.
   */
  private async replayOr(
    refusal: unknown,
    { request, caller }: RunCall,
    modelId: string,
    fingerprint: (key: string) => Promise<string | undefined> | string | undefined,
  ): Promise<Replay> {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string' || !visibleAscii.test(key)) throw refusal;
    const earlier = await this.runs.admittedWith(caller.workspaceId, key);
    if (earlier === null || earlier.fingerprint !== (await fingerprint(key))) throw refusal;
    return { kind: 'replay', modelId, key, runId: earlier.runId, delivered: earlier.delivered };
  }
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/**
 * The Idempotency-Key of the call; undefined without one. Throws a 400 for anything but 1 to 255 visible ASCII
 * characters.
 */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && visibleAscii.test(header))) return header;
  throw new RouterError('invalid_input', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/**
 * Two requests are the same if method, path, query, body and the headers that are input are the same. The path contains the model's own id,
 * whichever alias the caller used. The body is added as it arrives.
 */
export function fingerprintOf(
  { originalUrl, routeOptions, headers }: Pick<FastifyRequest, 'originalUrl' | 'routeOptions' | 'headers'>,
  modelId: string,
): Hash {
  const query = originalUrl.indexOf('?');
  const path = `${routeOptions.url?.replace(':provider/:model', modelId)}${query < 0 ? '' : originalUrl.slice(query)}`;
  return fingerprintOfPath(path, headers);
}

/** The fingerprint of a call by its path, its query and the headers that are input, when the body names the model. */
export function fingerprintOfPath(path: string, headers: IncomingHttpHeaders): Hash {
  const hash = createHash('sha256').update(`POST ${path}\n`);
  for (const [name, value] of Object.entries(inputHeadersOf(headers))) hash.update(`${name}: ${value}\n`);
  return hash;
}

/** The facts of the first server for the run's row, with those of the next one nested as its fallback. */
export function factsOf(
  model: Model,
  [
    { row, price, lift, upstream, missingMembers: members, ownKey, simulated, streams, headers },
    next,
    ...others
  ]: Candidates,
  call: Pick<RunCall, 'patienceMs'> & { callId: string; traceparent: string | undefined; isLive: boolean },
): RunFacts {
  const { callId, traceparent, isLive, patienceMs } = call;
  return {
    upstream,
    assets: row.assetPointers,
    chargesOnPolicyRejection: row.chargesOnPolicyRejection,
    budgetMs: row.budgetMs,
    ...(patienceMs !== undefined && { patienceMs }),
    basis: price.basis,
    reported: price.reported,
    ...(price.isOpen && { isOpen: price.isOpen }),
    price: { row: row.id, digest: priceDigest(row), ...(lift !== undefined && { lift }) },
    members,
    ...(streams && { streams: { ...streams, isLive } }),
    ...(Object.keys(headers).length > 0 && { headers }),
    callId,
    ...(traceparent !== undefined && { traceparent }),
    ...(ownKey !== undefined && { ownKey }),
    ...(simulated && { simulated }),
    ...(row.isUnlisted && { unlisted: row.isUnlisted }),
    ...(model.servers.length > 0 && { server: visibleProvider(row.id) }),
    ...(next && {
      fallback: {
        provider: next.row.provider,
        computedMicros: next.price.computedMicros,
        facts: factsOf(model, [next, ...others], call),
      },
    }),
  };
}
