import type { IncomingMessage } from 'node:http';
import { LiveCatalog } from '#catalog';
import { RunReader } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ModelSegments } from '../models/find-model.js';
import { falRoute } from './fal-route.js';

/** The calls of fal's clients, which are answered as these understand it. */
const calls = new WeakSet<IncomingMessage>();

const isFalCall = ({ raw }: Pick<FastifyRequest, 'raw'>): boolean => calls.has(raw);

const proxy = /^\/fal\/proxy\/?(?:\?|$)/;
const keyScheme = /^key +([^ ]+) *$/i;

/** The URL to be routed: that of the request, or what a call to the proxy means. Nobody sees the proxy's own any more. */
export function falUrl(request: IncomingMessage & { originalUrl?: string }): string {
  const { url = '/' } = request;
  if (!proxy.test(url)) return url;
  calls.add(request);
  request.originalUrl = falRoute(String(request.headers['x-fal-target-url'] ?? ''));
  return request.originalUrl;
}

/** A status, with the keys that fal's clients look for. */
export const statusFor = <Status extends object>(request: FastifyRequest, status: Status): Status =>
  isFalCall(request) ? { ...status, logs: [], metrics: {} } : status;

const statuses: readonly unknown[] = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'];

/** `Authorization: Key …` is taken for an API key on v2 and by the proxy, and its callers get what fal's answers carry. */
export function serveFal(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const [, key] = keyScheme.exec(request.headers.authorization ?? '') ?? [];
    if (key !== undefined && !request.url.startsWith('/v1/')) {
      calls.add(request.raw);
      request.headers['x-api-key'] ??= key;
    }
    done();
  });

  server.addHook('preSerialization', (request, reply, payload, done) => {
    if (!isFalCall(request) || !isStatus(payload)) return done(null, payload);
    if (reply.statusCode !== 202) return done(null, statusFor(request, payload));
    // What fal's clients get of a run is its result: that there is none yet has to be an error.
    reply.code(400).header('x-service-error-type', 'invalid_input');
    done(null, { detail: 'Request is still in progress', error_type: 'invalid_input' });
  });

  server.addHook('onSend', (request, reply, payload, done) => {
    if (isFalCall(request)) reply.header('x-fal-request-id', runIdOf(request));
    done(null, payload);
  });
}

const isStatus = (payload: unknown): payload is { status: string } =>
  typeof payload === 'object' && payload !== null && 'status' in payload && statuses.includes(payload.status);

/** The run that the call began or names; the call itself where there is none. */
function runIdOf({ runId, params, id }: FastifyRequest): string {
  if (runId !== null) return runId;
  const named = routerQueueRequestId.safeParse((params as { requestId?: string } | undefined)?.requestId);
  return named.data ?? id;
}

/** fal's clients name a run by its id and the first two segments of its model's path: the model is what the run says. */
@Injectable()
export class FalRunGuard implements CanActivate {
  constructor(
    private readonly runs: RunReader,
    private readonly catalog: LiveCatalog,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context
      .switchToHttp()
      .getRequest<FastifyRequest<{ Params: ModelSegments & { requestId: string } }>>();
    const { caller, params } = request;
    if (caller === null || !isFalCall(request)) return true;
    if (!routerQueueRequestId.safeParse(params.requestId).success) return true;
    const id = await this.runs.modelOf(caller.workspaceId, params.requestId);
    if (id === null || !this.mayMean(params, id)) return true;
    const [provider, model] = id.split('/');
    Object.assign(params, { provider, model });
    return true;
  }

  /** Whether the first two segments of some name of the model are the path's; of one that is gone nobody knows the names. */
  private mayMean({ provider, model }: ModelSegments, id: string): boolean {
    const { models, ended } = this.catalog.current;
    const known = [...models, ...ended].find((each) => each.id === id);
    if (known === undefined) return true;
    return known.aliases.some((alias) => `${alias}/`.startsWith(`${provider}/${model}/`));
  }
}
