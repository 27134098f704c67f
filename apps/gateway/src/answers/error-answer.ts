import { InputRejection, RouterError } from '#errors';
import type {
  RegistryErrorResponse,
  RouterErrorResponse,
  RouterQueueCancelResponse,
  RouterValidationErrorResponse,
} from '#schemas';
import { requestPath } from './request-path.js';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** An error as every failed call is answered. Without a path, which broken bytes may lack, it has the router's shape. */
export function errorAnswer(
  error: RouterError,
  { requestId, url }: { requestId: string; url: string | undefined },
): ErrorAnswer {
  const isRouter = url === undefined || isRouterPath(url);
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-request-id': requestId,
      ...(isRouter && { 'x-service-error-type': error.bucket }),
    },
    body: JSON.stringify(isRouter ? routerErrorBody(error) : registryErrorBody(error)),
  };
}

const routerPath = /^\/v[12](?:\/|$)/i;

/** Paths that answer with the router's error shapes; all others have the registry's. */
export const isRouterPath = (url: string): boolean => routerPath.test(requestPath(url));

/** The run has its outcome already; the answer has the shape of every answer to a cancellation. */
export class CancelledTooLate extends RouterError {
  constructor(readonly runId: string) {
    super('invalid_input', 'The run has completed already.');
  }
}

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
