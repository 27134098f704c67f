import { InputRejection, type RouterError } from '#errors';
import type { RegistryErrorResponse, RouterErrorResponse, RouterValidationErrorResponse } from '#schemas';

// A request line may name the whole URL; what counts is its path.
const routerPath = /^(?:https?:\/\/[^/?]*)?\/v[12](?:[/?]|$)/i;

/** Paths that answer with the router's error shapes; all others have the registry's. */
export const isRouterPath = (url: string): boolean => routerPath.test(url);

export function routerErrorBody(error: RouterError): RouterErrorResponse | RouterValidationErrorResponse {
  if (error instanceof InputRejection) return { detail: error.fields };
  return { detail: error.publicDetail, error_type: error.bucket };
}

export function registryErrorBody(error: RouterError): RegistryErrorResponse {
  return { error: error.status === 404 ? 'not_found' : error.bucket, message: error.publicDetail };
}
