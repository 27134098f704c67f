import { buckets, InputRejection, RouterError } from '#errors';
import { type Log, LOG } from '#observability';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorAnswer, errorAnswer, errorEvent } from './error-answer.js';
import { asPage, isMissingPage } from './missing-page.js';
import { RefusedCalls } from './refused-calls.js';
import { nameRefusedFields } from './refused-fields.js';
import { runIdOf } from './run-of-call.js';

/** The only place that turns errors into HTTP: those of all routes, and those of the framework. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly answered = new WeakSet<FastifyReply>();

  constructor(
    @Inject(LOG) private readonly log: Log,
    @Inject(RefusedCalls) private readonly refused: Pick<RefusedCalls, 'note'>,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // A path without a route is a 404, whatever else is wrong with the request.
    const error = request.is404 ? unknownPath() : toRouterError(thrown);
    this.record(error, request, reply);
    if (reply.sent) return;
    const runId = runIdOf(reply);
    const { errorForm: form } = request.routeOptions.config ?? {};
    const own = errorAnswer(error, { requestId: request.id, runId, url: request.originalUrl, form });
    const answer = isMissingPage(request) ? asPage(own) : own;
    // A second error of one call means that sending the first one failed, so hooks and their headers are skipped.
    if (this.answered.has(reply)) return writeBare(reply, answer);
    this.answered.add(reply);
    try {
      reply
        .code(answer.status)
        .headers({ ...error.headers, ...answer.headers })
        .send(answer.body);
    } catch (failure) {
      this.record(toRouterError(failure), request, reply);
      writeBare(reply, answer);
    }
  }

  /** Records the failure of an answer that has begun, and returns the event that ends it. */
  eventOf(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Buffer {
    const error = toRouterError(thrown);
    this.record(error, request, reply);
    const { errorForm: form } = request.routeOptions.config ?? {};
    return Buffer.from(errorEvent(error, { requestId: request.id, runId: runIdOf(reply), form }));
  }

  private record(error: RouterError, request: FastifyRequest, reply: FastifyReply): void {
    if (error instanceof InputRejection) nameRefusedFields(reply, error);
    this.refused.note(error, request, reply);
    if (error.status < 500) return;
    const facts = {
      request_id: request.id,
      run_id: runIdOf(reply),
      error_type: error.bucket,
      internal: error.internal,
    };
    // A stack trace helps only with an unforeseen failure.
    if (error.bucket === 'internal_error') this.log.error({ ...facts, error: error.cause }, 'call failed');
    else this.log.warn(facts, 'call failed');
  }
}

/** Writes the answer without the framework, and with nothing that Node could reject. */
function writeBare(reply: FastifyReply, { status, headers, body }: ErrorAnswer): void {
  const { raw } = reply;
  if (raw.headersSent) return void raw.destroy();
  reply.hijack();
  // The call record reads the headers from the reply.
  void reply.headers(headers);
  raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

const invalidInputStatuses: readonly number[] = buckets.invalid_input.otherStatuses;

/** Converts anything thrown to a `RouterError`. An unforeseen error becomes `internal_error`. */
function toRouterError(thrown: unknown): RouterError {
  if (thrown instanceof RouterError) return thrown;
  // The framework's own rejections; handlers never throw them.
  if (thrown instanceof HttpException && thrown.getStatus() < 500) {
    const status = thrown.getStatus();
    return new RouterError('invalid_input', 'The request is malformed.', {
      status: invalidInputStatuses.includes(status) ? status : buckets.invalid_input.status,
      internal: thrown.message,
      cause: thrown,
    });
  }
  return new RouterError('internal_error', 'The service failed; the error has been logged.', {
    internal: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}

/** Answers unknown paths and wrong methods, and paths that match a route's pattern but name nothing. */
export const unknownPath = (): RouterError =>
  new RouterError('invalid_input', 'There is no route with this path and method.', {
    status: 404,
  });
