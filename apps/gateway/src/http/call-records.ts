import {
  Gathered,
  type Log,
  type Metrics,
  readTraceparent,
  runAttributes,
  type Span,
  type Tracing,
} from '#observability';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refusedFieldsOf } from '../answers/refused-fields.js';
import { runIdOf } from '../answers/run-of-call.js';
import { modelIdOf, submissionOf } from '../answers/submissions.js';

const gatherMs = 20;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the call is not traced. */
    span: Span | null;
  }
}

/**
 * Gives every call its id, one measurement and one log line, except that of `statusPollSample` successful status
 * polls only one is logged. Bodies and queries are never logged.
 */
export function recordCalls(
  server: FastifyInstance,
  log: Log,
  metrics: Metrics,
  tracing: Tracing,
  statusPollSample: number,
): void {
  server.decorateRequest('caller', null);
  server.decorateRequest('span', null);
  // Flat fields contain nothing to redact, and looking for it would take four fifths of the logging time.
  const plainLog = log.child({}, { redact: [] });
  const polls = new Sample<EndedCall>(statusPollSample, (call, sampled) =>
    writeLine(sampled > 1 ? { ...call, sampled } : call, plainLog),
  );
  // Writing each record on its own would take a tenth of a short call's time.
  const records = new Gathered<EndedCall>(gatherMs, Infinity, (calls) => {
    for (const call of calls) {
      measure(call, metrics);
      if (isStatusPoll(call)) polls.add(call);
      else writeLine(call, plainLog);
    }
  });
  // Must run before the log writes its last lines.
  process.prependOnceListener('exit', () => records.flush());

  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-service-request-id', request.id);
    if (tracing.on) request.span = spanOf(request, tracing);
    // The framework's `onResponse` hook will not do: it never runs for a caller that closed its connection.
    reply.raw.once('close', () => records.add(endedCall(request, reply)));
    done();
  });
}

/**
 * A POST, which may admit a run, begins a trace. Any other call only joins its caller's trace, so that status polls
 * do not create traces.
 */
function spanOf(request: FastifyRequest, tracing: Tracing): Span | null {
  const { method, headers, id } = request;
  const route = request.routeOptions.url ?? 'unmatched';
  const header = headers['traceparent'];
  const parent = typeof header === 'string' && readTraceparent(header) ? header : undefined;
  if (parent === undefined && method !== 'POST') return null;
  return tracing.start({
    name: `${method} ${route}`,
    kind: 'server',
    parent,
    attributes: { 'http.request.method': method, 'http.route': route, ...runAttributes({ callId: id }) },
  });
}

type EndedCall = ReturnType<typeof endedCall>;

/** The record of a finished call: the fields of its log line. */
function endedCall(request: FastifyRequest, reply: FastifyReply) {
  const { id, method, span } = request;
  const workspaceId = request.caller?.workspaceId;
  const { status, bucket } = outcomeOf(reply);
  const runId = runIdOf(reply);
  span?.set({
    'http.response.status_code': status,
    ...runAttributes({ runId, workspaceId }),
  });
  span?.end(bucket);
  return {
    request_id: id,
    run_id: runId,
    method,
    route: request.routeOptions.url ?? 'unmatched',
    status,
    error_type: bucket,
    ...(status >= 400 && {
      model: submissionOf(reply)?.model ?? modelIdOf(request.params ?? {}),
      fields: refusedFieldsOf(reply),
    }),
    ms: reply.elapsedTime,
    workspace_id: workspaceId,
    client_address: request.ip,
    trace_id: readTraceparent(span?.traceparent)?.traceId,
  };
}

function measure({ method, route, status, error_type = '', ms }: EndedCall, metrics: Metrics): void {
  metrics.requestSeconds.observe(
    { route, method: methodLabel(method), status_class: `${Math.floor(status / 100)}xx`, error_type },
    ms / 1000,
  );
}

/** `sampled` is the number of calls that the line stands for. */
function writeLine(call: EndedCall & { sampled?: number }, log: Log): void {
  log.info({ ...call, ms: Math.round(call.ms * 10) / 10 }, 'call');
}

/** Callers poll runs every second or so, so nearly all lines of a busy gateway would be about nothing else. */
const isStatusPoll = ({ method, route, status }: EndedCall): boolean =>
  method === 'GET' && status === 200 && route.endsWith('/status');

/** Passes on every `size`th item; none if `size` is 0. */
class Sample<Item> {
  private skipped = 0;

  constructor(
    private readonly size: number,
    private readonly pass: (item: Item, size: number) => void,
  ) {}

  add(item: Item): void {
    this.skipped += 1;
    if (this.skipped !== this.size) return;
    this.skipped = 0;
    this.pass(item, this.size);
  }
}

/** Node's parser accepts three dozen methods, too many for a label. */
const methodLabel = (method: string) => (usual.has(method) ? method : 'other');
const usual = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function outcomeOf(reply: FastifyReply): { status: number; bucket: string | undefined } {
  // The caller left before the answer was complete. This status is only recorded, never sent.
  if (!reply.raw.writableFinished) return { status: 499, bucket: 'client_disconnected' };
  const bucket = reply.getHeader('x-service-error-type');
  return { status: reply.statusCode, bucket: typeof bucket === 'string' ? bucket : undefined };
}
