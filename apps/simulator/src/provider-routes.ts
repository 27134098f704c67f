import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { answerAsset } from './asset-route.js';
import { concerns, type Control, plannedFault } from './control.js';
import { endOf, type Generation } from './ledger/generation.js';
import {
  bearerOf,
  type Call,
  type Provider,
  type Protocol,
  type ArrivedCall,
  type View,
} from './provider.js';
import { Replies } from './replies.js';
import { Schemas } from './schemas.js';
import { sendSpoilt } from './reply-faults.js';
import {
  type AccountAnswer,
  accountOf,
  isHangingKey,
  isRevokedKey,
  type Side,
  type Simulation,
  viewOf,
} from './simulation.js';
import { takeSubmission } from './submission.js';
import { takeUpload } from './uploads.js';
import { checkPaths } from './providers/checks.js';
import { digestOf, hang, refuseCall, send } from './wire.js';

const bodyLimitBytes = 128 * 1024 * 1024;

/** The provider's API: submissions, calls on its own host, cancellation. Every route needs the provider's key. */
export function addApiRoutes(app: FastifyInstance, simulation: Simulation, provider: Provider): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'],
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    (_request, body, done) => done(null, body),
  );
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    refuseCall(reply, error.message, error.statusCode ?? 500),
  );
  app.setNotFoundHandler((_request, reply) => refuseCall(reply, 'no such route', 404));
  requireKey(app, simulation, provider);
  const routes = routesOf(app, provider);
  const { open } = provider;
  if (open) {
    app.post(open.path, (request, reply) => {
      const url = simulation.addresses.api + request.url;
      return send(reply, open.answer({ body: bytesOf(request), url, nowMs: simulation.clock.now() }));
    });
  }
  const [side] = sidesOf(simulation, provider);
  const checkPath = checkPaths[provider.name];
  if (side && checkPath !== undefined)
    app.get(checkPath, (request, reply) =>
      isHangingKey(request.headers) ? hang(reply) : send(reply, side.replies.checked),
    );
  const { record } = provider;
  if (record)
    app.get(record.path, (request, reply) => {
      const { id = '' } = request.query as { id?: string };
      const generation = simulation.ledger.find(provider.name, id.replace(/^gen-/, ''));
      const body = generation && record.bodyOf(generation);
      return send(
        reply,
        body
          ? { status: 200, headers: {}, body }
          : { status: 404, headers: {}, body: { error: { code: 404 } } },
      );
    });
  const { upload } = provider;
  if (side && upload) app.post(upload.path, (request, reply) => takeUpload(side, upload, request, reply));
  for (const side of sidesOf(simulation, provider)) {
    const { submits, cancel, pollsElsewhere } = side.protocol;
    for (const submit of submits)
      routes.add('POST', submit.path, (request, reply) => takeSubmission(side, submit, request, reply));
    if (!pollsElsewhere) addCalls(routes, side);
    if (cancel) {
      const handler = (request: FastifyRequest, reply: FastifyReply) =>
        answerCancel(side, cancel, request, reply);
      routes.add(cancel.method, cancel.path, handler);
    }
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;
interface Routes {
  add(method: HTTPMethods, path: string, handler: Handler): void;
}

/** Adds a route per path, or a single dispatching route for a provider with one address. */
function routesOf(app: FastifyInstance, { addressOf }: Pick<Provider, 'addressOf'> = {}): Routes {
  if (!addressOf) return { add: (method, url, handler) => void app.route({ method, url, handler }) };
  const handlers = new Map<string, Handler>();
  app.post('/', (request, reply) => {
    const address = addressOf(callOf(request));
    const handler = handlers.get(address);
    return handler ? handler(request, reply) : refuseCall(reply, `no such action: ${address}`, 404);
  });
  return { add: (_method, path, handler) => void handlers.set(path, handler) };
}

/** The provider's other hosts, for polling URLs and files. A key must never reach them. */
export function addAssetRoutes(app: FastifyInstance, simulation: Simulation, provider: Provider): void {
  for (const side of sidesOf(simulation, provider))
    if (side.protocol.pollsElsewhere) addCalls(routesOf(app), side);
  app.get('/files/:id/:file', (request, reply) => answerAsset(simulation, provider, request, reply));
}

const sidesOf = (simulation: Simulation, provider: Provider): Side[] =>
  provider.protocols.map((protocol) => ({
    simulation,
    provider,
    protocol,
    replies: new Replies(provider, protocol),
    schemas: new Schemas(provider.name),
  }));

function requireKey(
  app: FastifyInstance,
  { clock, traceIds, accounts }: Simulation,
  provider: Provider,
): void {
  const replies = new Replies(provider);
  const unauthorized = () => replies.refusal(401, new Map());
  const { open, traceHeader, authorized = hasBearer } = provider;
  app.addHook('onRequest', async (request, reply) => {
    if (open && request.routeOptions.url?.endsWith(open.path)) return undefined;
    if (isRevokedKey(request.headers) || !authorized(request.headers, clock.now()))
      return send(reply, unauthorized());
    const answer = accounts.get(accountOf(request.headers) ?? '');
    if (answer) return send(reply, replies.refusal(answer.status, controlOf(answer)));
    if (traceHeader === undefined) return undefined;
    const traceId = request.headers[traceHeader];
    if (typeof traceId !== 'string' || traceId === '' || traceIds.has(traceId))
      return refuseCall(reply, `each call needs a unique ${traceHeader}`);
    traceIds.add(traceId);
    return undefined;
  });
  const { signed } = provider;
  if (signed)
    app.addHook('preHandler', async (request, reply) =>
      signed(callOf(request), clock.now()) ? undefined : send(reply, unauthorized()),
    );
}

const controlOf = ({ retryAfterSeconds }: AccountAnswer): Control =>
  new Map(retryAfterSeconds === undefined ? [] : [['retry_after', String(retryAfterSeconds)]]);

const hasBearer = (headers: IncomingHttpHeaders): boolean => bearerOf(headers) !== '';

function addCalls(routes: Routes, side: Side): void {
  for (const role of ['poll', 'fetch'] as const) {
    const call = side.protocol[role];
    if (!call) continue;
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      answerCall(side, role, call, request, reply);
    routes.add(call.method ?? 'GET', call.path, handler);
  }
}

/** Counts a poll or a result fetch, then answers it by the clock, unless a fault is planned for it. */
function answerCall(
  side: Side,
  role: 'poll' | 'fetch',
  call: Call,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { simulation, provider, replies } = side;
  const generation = simulation.ledger.find(provider.name, idOf(request, call));
  if (
    !generation ||
    isForgotten(generation) ||
    isDeleted(side, generation) ||
    isOfOther(side, generation, request)
  )
    return send(reply, replies.lost);
  const nth = role === 'poll' ? (generation.pollCount += 1) : (generation.resultCount += 1);
  const view = contradicting(viewOf(simulation, provider, generation), role, nth);
  const answer = replies[role](view);
  if (view.phase === 'succeeded') generation.replySha256 = digestOf(answer);
  const words = role === 'poll' ? 'poll' : 'result';
  const kind = plannedFault(generation.control, words, nth);
  if (kind === undefined) return send(reply, answer);
  return sendSpoilt(reply, kind, `${words}_${kind}`, { replies, control: generation.control, answer });
}

/** Makes the provider contradict an earlier reply, if a control asks for that. */
function contradicting(view: View, role: 'poll' | 'fetch', nth: number): View {
  const { phase, control } = view;
  if (role === 'poll' && phase === 'running' && control.has('status_back') && nth % 2 === 0)
    return { ...view, phase: 'queued' };
  if (role === 'fetch' && phase === 'succeeded' && concerns(control, 'result_early', nth))
    return { ...view, phase: 'running' };
  return view;
}

/** Whether the call carries the key of another account than the one that submitted, which the router must never use. */
function isOfOther(
  { simulation }: Pick<Side, 'simulation'>,
  { account }: Generation,
  { headers, method, url }: FastifyRequest,
): boolean {
  const used = accountOf(headers);
  if (used === null || used === account) return false;
  const facts = { listener: 'api', credential: true, ownHeader: false, status: null } as const;
  simulation.requests.violate({ ...facts, atMs: simulation.clock.now(), method, path: url });
  return true;
}

const isForgotten = ({ canceledAtMs, control }: Generation): boolean =>
  canceledAtMs !== null && control.has('cancel_forgets');

/** If cancelling is a DELETE, it deletes a generation that has already ended. */
const isDeleted = ({ protocol }: Side, generation: Generation): boolean =>
  protocol.cancel?.method === 'DELETE' && (generation.cancelAskedAtMs ?? -Infinity) >= endOf(generation);

/** `canceled` takes effect at once, `ignored` never; `too_late` means that the generation has ended, or claims to have. */
function answerCancel(
  { simulation, provider, replies }: Side,
  { queuedOnly }: NonNullable<Protocol['cancel']>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const generation = simulation.ledger.find(provider.name, idOf(request));
  if (!generation || isOfOther({ simulation }, generation, request))
    return send(reply, replies.cancel('unknown'));
  const view = viewOf(simulation, provider, generation);
  const { phase, control } = view;
  const nowMs = simulation.clock.now();
  const over = (phase !== 'queued' && phase !== 'running') || (queuedOnly && phase === 'running');
  const cancelled = control.has('cancel_ignored') ? 'ignored' : 'canceled';
  const outcome = over || control.has('cancel_too_late') ? 'too_late' : cancelled;
  simulation.ledger.cancel(generation, nowMs, outcome === 'canceled' ? nowMs : null);
  return send(reply, replies.cancel(outcome, view));
}

function idOf(request: FastifyRequest, call?: Call): string {
  const query = request.query as Record<string, string>;
  if (call?.idOf) return call.idOf({ query, body: objectOf(bytesOf(request)) });
  return (request.params as Record<string, string>)['id'] ?? query['id'] ?? '';
}

const callOf = (request: FastifyRequest): ArrivedCall => ({
  method: request.method,
  headers: request.headers,
  body: bytesOf(request),
});

const bytesOf = ({ body }: FastifyRequest): Buffer => (body instanceof Buffer ? body : Buffer.alloc(0));

function objectOf(bytes: Buffer): Record<string, unknown> {
  try {
    return Object.assign({}, JSON.parse(bytes.toString()) as unknown);
  } catch {
    return {};
  }
}
