import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { LiveCatalog } from '#catalog';
import { RunReader } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { credentialOf } from '../../auth/credential.js';
import { Identification } from '../../auth/identification.js';
import { runIdOf } from '../../answers/run-of-call.js';
import { exposeToPages } from '../../http/cors.js';
import type { ModelSegments } from '../../models/find-model.js';
import { falRoute } from './fal-route.js';

/** Calls of fal's clients, which expect answers in fal's format. */
const calls = new WeakSet<IncomingMessage>();

const isFalCall = ({ raw }: Pick<FastifyRequest, 'raw'>): boolean => calls.has(raw);

const proxy = /^\/fal\/proxy\/?(?:\?|$)/;
const uploads = /^\/fal(?=\/uploads\b)/;
const keyScheme = /^key +([^ ]+) *$/i;

/**
 * Maps a call to the proxy, or an upload, to its route. The proxy's own URL appears in no record and no fingerprint.
 */
function rewriteUrl(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (uploads.test(url)) request.url = `/v2${url}`;
  if (!proxy.test(url)) return;
  calls.add(request);
  request.url = falRoute(String(request.headers['x-fal-target-url'] ?? ''));
}

/** The events by which Node hands over a request. */
const arrivals = ['request', 'checkContinue', 'checkExpectation'];

/**
 * Maps calls to the proxy to our own routes, accepts `Authorization: Key …` as an API key on v2, and adds the headers
 * and members of fal's answers for such callers.
 */
export function serveFal(server: FastifyInstance, runs: FalRuns): void {
  // Before the listeners of the framework, which chooses the route by the URL.
  for (const event of arrivals) server.server.prependListener(event, rewriteUrl);

  server.addHook('onRequest', (request, _reply, done) => {
    const [, key] = keyScheme.exec(request.headers.authorization ?? '') ?? [];
    if (key !== undefined && !request.url.startsWith('/v1/')) {
      calls.add(request.raw);
      request.headers['x-api-key'] ??= key;
    }
    done();
  });

  server.addHook('preHandler', async (request) => {
    if (!isFalCall(request)) return;
    request.isRepeatedByClient = true;
    await runs.nameModel(request);
  });

  server.addHook('preSerialization', (request, reply, payload, done) => {
    if (!isFalCall(request) || !isStatus(payload)) return done(null, payload);
    if (reply.statusCode !== 202) return done(null, falStatus(payload));
    // fal's clients expect an error while a run has no result.
    reply.code(400).header('x-service-error-type', 'invalid_input');
    done(null, { detail: 'Request is still in progress', error_type: 'invalid_input' });
  });

  server.addHook('onSend', (request, reply, payload, done) => {
    exposeToPages(reply, 'X-Fal-Request-Id');
    if (!isFalCall(request)) return done(null, payload);
    reply.header('x-fal-request-id', runIdOf(reply) ?? namedRun(request) ?? request.id);
    const isStream = request.routeOptions.url?.endsWith('/status/stream') && payload instanceof Readable;
    done(null, isStream ? Readable.from(falEvents(payload)) : payload);
  });
}

const statuses: readonly unknown[] = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'];

const isStatus = (payload: unknown): payload is { status: string } =>
  typeof payload === 'object' && payload !== null && 'status' in payload && statuses.includes(payload.status);

/** A status with the members that fal's clients read. */
const falStatus = (status: object) => ({ ...status, logs: [], metrics: {} });

/** The events of a status stream, each in one chunk. */
async function* falEvents(events: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const event of events)
    yield event.replaceAll(/(?<=^data: ).+/gm, (data) => {
      const body: unknown = JSON.parse(data);
      return isStatus(body) ? JSON.stringify(falStatus(body)) : data;
    });
}

/** The id of a run in the path, whether or not the run exists. */
const namedRun = ({ params }: FastifyRequest): string | undefined =>
  routerQueueRequestId.safeParse((params as { requestId?: string } | undefined)?.requestId).data;

const runRoute = '/v2/models/:provider/:model/requests/:requestId';

/**
 * Finds the model of a run: fal's clients name a run by its id and only the first two segments of its model's path.
 */
@Injectable()
export class FalRuns {
  constructor(
    private readonly identification: Identification,
    private readonly runs: RunReader,
    private readonly catalog: LiveCatalog,
  ) {}

  /** Puts the model's id into the path parameters. Leaves all errors to the route. */
  async nameModel(request: FastifyRequest): Promise<void> {
    if (!request.routeOptions.url?.startsWith(runRoute)) return;
    const params = request.params as ModelSegments & { requestId: string };
    if (!routerQueueRequestId.safeParse(params.requestId).success) return;
    const credential = credentialOf(request.headers, 'v2');
    const caller = credential && (await this.identification.find(credential));
    if (!caller) return;
    const id = await this.runs.modelOf(caller.workspaceId, params.requestId);
    if (id === null || !this.mayMean(params, id)) return;
    const [provider, model] = id.split('/');
    Object.assign(params, { provider, model });
  }

  /**
   * Whether the path has the first two segments of one of the model's aliases. A removed model matches any path, because
   * its aliases are no longer known.
   */
  private mayMean({ provider, model }: ModelSegments, id: string): boolean {
    const { models, ended } = this.catalog.current;
    const known = [...models, ...ended].find((each) => each.id === id);
    if (known === undefined) return true;
    return known.aliases.some((alias) => `${alias}/`.startsWith(`${provider}/${model}/`));
  }
}
