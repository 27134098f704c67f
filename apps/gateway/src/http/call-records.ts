import { Gathered, type Log, type Metrics, readTraceparent, type Span, type Tracing } from '#observability';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const gatherMs = 20;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null where the call is not traced. */
    span: Span | null;
    /** The run that the call began or joined. */
    runId: string | null;
  }
}

/** Names every call, and leaves one line and one measurement of it behind. Bodies and queries are never logged. */
export function recordCalls(server: FastifyInstance, log: Log, metrics: Metrics, tracing: Tracing): void {
  server.decorateRequest('caller', null);
  server.decorateRequest('span', null);
  server.decorateRequest('runId', null);
  // A line of flat fields has nothing that could be redacted, and looking for it would take four fifths of the time.
  const plainLog = log.child({}, { redact: [] });
  // Each record by itself takes a tenth of a short call's time.
  const records = new Gathered<EndedCall>(gatherMs, Infinity, (calls) => {
    for (const call of calls) writeRecord(call, plainLog, metrics);
  });
  // Before the log writes its last lines.
  process.prependOnceListener('exit', () => records.flush());

  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-service-request-id', request.id);
    if (tracing.on) request.span = spanOf(request, tracing);
    // Not the framework's hook for responses: it never runs for a caller that closed its connection.
    reply.raw.once('close', () => records.add(endedCall(request, reply)));
    done();
  });
}

/**
 * A call that admits a run begins a trace; any other takes part in its caller's trace or in none, so that status
 * polls make no trace each.
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
    attributes: { 'http.request.method': method, 'http.route': route, 'router.request_id': id },
  });
}

type EndedCall = ReturnType<typeof endedCall>;

/** The record of a finished call: the fields of its log line. */
function endedCall(request: FastifyRequest, reply: FastifyReply) {
  const { id, method, span } = request;
  const { status, bucket } = outcomeOf(reply);
  span?.set({ 'http.response.status_code': status });
  span?.end(bucket);
  return {
    request_id: id,
    method,
    route: request.routeOptions.url ?? 'unmatched',
    status,
    error_type: bucket,
    ms: reply.elapsedTime,
    workspace_id: request.caller?.workspaceId,
    client_address: request.ip,
    trace_id: readTraceparent(span?.traceparent)?.traceId,
  };
}

function writeRecord(call: EndedCall, log: Log, metrics: Metrics): void {
  const { method, route, status, error_type = '', ms } = call;
  metrics.requestSeconds.observe(
    { route, method: methodLabel(method), status_class: `${Math.floor(status / 100)}xx`, error_type },
    ms / 1000,
  );
  log.info({ ...call, ms: Math.round(ms * 10) / 10 }, 'call');
}

/** The parser lets three dozen methods through, and a label must not have them all. */
const methodLabel = (method: string) => (usual.has(method) ? method : 'other');
const usual = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function outcomeOf(reply: FastifyReply): { status: number; bucket: string | undefined } {
  // The caller went before the answer was complete: an attribution for the records, never a reply.
  if (!reply.raw.writableFinished) return { status: 499, bucket: 'client_disconnected' };
  const bucket = reply.getHeader('x-service-error-type');
  return { status: reply.statusCode, bucket: typeof bucket === 'string' ? bucket : undefined };
}
