import { InputRejection, RouterError } from '#errors';
import type {
  RegistryErrorResponse,
  RouterErrorResponse,
  RouterQueueCancelResponse,
  RouterValidationErrorResponse,
} from '#schemas';
import { requestPath } from './request-path.js';
import { runIdHeader } from './run-of-call.js';
import { unknownFieldsHeader, unknownFieldsText } from './unknown-fields.js';

export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

interface FailedCall {
  requestId: string;
  runId?: string | undefined;
}

/**
 * The body of an error on a route that has its own, and the headers that only such a route adds. `status` replaces that
 * of the error. `event` is the data of the error in a stream of events if it differs from the body.
 */
export type ErrorForm = (
  error: RouterError,
  call: FailedCall,
) => { status: number; headers: Record<string, string>; body: object; event?: object | undefined };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Replaces the shape that the path of the route gives to its errors. */
    errorForm?: ErrorForm;
  }
}

/**
 * Builds the answer to a failed call. Broken bytes may lack a path; then the answer has the router's shape.
 */
export function errorAnswer(
  error: RouterError,
  { url, form, ...call }: FailedCall & { url: string | undefined; form?: ErrorForm | undefined },
): ErrorAnswer {
  const { requestId, runId } = call;
  const isRouter = url === undefined || isRouterPath(url);
  const own = form?.(error, call);
  return {
    status: own?.status ?? error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-request-id': requestId,
      ...(runId !== undefined && { [runIdHeader]: runId }),
      ...((isRouter || own) && { 'x-service-error-type': error.bucket }),
      ...(error instanceof InputRejection &&
        error.unknownFields.length > 0 && { [unknownFieldsHeader]: unknownFieldsText(error.unknownFields) }),
      ...own?.headers,
    },
    body: JSON.stringify(own?.body ?? (isRouter ? routerErrorBody(error) : registryErrorBody(error))),
  };
}

/**
 * The event that ends an answer which failed after it had begun. The blank line before it ends an event that was cut
 * off. Vendors name those events that have a type.
 */
export function errorEvent(
  error: RouterError,
  { form, ...call }: FailedCall & { form?: ErrorForm | undefined },
): string {
  const own = form?.(error, call);
  const data = own ? (own.event ?? own.body) : routerErrorBody(error);
  const name = own ? (data as { type?: string }).type : 'error';
  return `\n\n${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

const routerPath = /^\/v[12](?:\/|$)/i;

/** Whether errors on this path have the router's shape; all others have the registry's. */
export const isRouterPath = (url: string): boolean => routerPath.test(requestPath(url));

/** The run already has its outcome. The answer has the shape of a cancel response, not of an error. */
export class CancelledTooLate extends RouterError {
  constructor(readonly runId: string) {
    super('invalid_input', 'The run has already completed.');
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
