import { buckets, InputRejection, RouterError } from '#errors';
import { type Log, LOG } from '#observability';
import type {
  RegistryErrorResponse,
  RouterErrorResponse,
  RouterQueueCancelResponse,
  RouterValidationErrorResponse,
} from '#schemas';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestPath } from '../http/request-path.js';

/** The one place that turns errors into HTTP: every failure of every route, and the framework's own, end here. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(@Inject(LOG) private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(thrown, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // Where nothing is, the framework's opinion on the rest of the request does not matter.
    const error = request.is404 ? unknownPath() : toRouterError(thrown);
    this.record(error, request);
    if (reply.sent) return;
    const isRouter = isRouterPath(request.originalUrl);
    const body = isRouter ? routerErrorBody(error) : registryErrorBody(error);
    if (isRouter) reply.header('x-service-error-type', error.bucket);
    reply
      .code(error.status)
      .headers(error.headers)
      .header('x-service-request-id', request.id)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(body));
  }

  private record(error: RouterError, request: FastifyRequest): void {
    if (error.status < 500) return;
    const facts = { request_id: request.id, error_type: error.bucket, internal: error.internal };
    // A stack trace helps only with a failure that was not foreseen.
    if (error.bucket === 'internal_error') this.log.error({ ...facts, error: error.cause }, 'call failed');
    else this.log.warn(facts, 'call failed');
  }
}

const invalidInputStatuses: readonly number[] = buckets.invalid_input.otherStatuses;

/** Whatever was thrown, as the one error a gateway answers with. An unforeseen error is an internal error. */
function toRouterError(thrown: unknown): RouterError {
  if (thrown instanceof RouterError) return thrown;
  // The framework's own refusals: handlers throw none of these.
  if (thrown instanceof HttpException && thrown.getStatus() < 500) {
    const status = thrown.getStatus();
    return new RouterError('invalid_input', 'The request is malformed.', {
      status: invalidInputStatuses.includes(status) ? status : buckets.invalid_input.status,
      internal: thrown.message,
      cause: thrown,
    });
  }
  return new RouterError('internal_error', 'The service failed; this was recorded.', {
    internal: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}

/** For unknown paths and wrong methods, and for paths that match a route's pattern but name nothing. */
export const unknownPath = (): RouterError =>
  new RouterError('invalid_input', 'There is nothing at this path, or not with this method.', {
    status: 404,
  });

/** The run has its outcome already; the answer has the shape of every answer to a cancellation. */
export class CancelledTooLate extends RouterError {
  constructor(readonly runId: string) {
    super('invalid_input', 'The run has completed already.');
  }
}

const routerPath = /^\/(?:v[12]|fal)(?:\/|$)/i;

/** Paths that answer with the router's error shapes; all others have the registry's. */
export const isRouterPath = (url: string): boolean => routerPath.test(requestPath(url));

function routerErrorBody(
  error: RouterError,
): RouterErrorResponse | RouterValidationErrorResponse | RouterQueueCancelResponse {
  if (error instanceof InputRejection) return { detail: error.fields };
  if (error instanceof CancelledTooLate) return { request_id: error.runId, status: 'ALREADY_COMPLETED' };
  return { detail: error.publicDetail, error_type: error.bucket };
}

const registryErrorBody = (error: RouterError): RegistryErrorResponse => ({
  error: error.status === 404 ? 'not_found' : error.bucket,
  message: error.publicDetail,
});
