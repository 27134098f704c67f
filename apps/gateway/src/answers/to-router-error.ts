import { buckets, RouterError } from '#errors';
import { HttpException } from '@nestjs/common';

const invalidInputStatuses: readonly number[] = buckets.invalid_input.otherStatuses;

/** Whatever was thrown, as the one error a gateway answers with. An unforeseen error is an internal error. */
export function toRouterError(thrown: unknown): RouterError {
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
