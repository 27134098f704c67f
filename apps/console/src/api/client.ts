import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';
import { problemOf, unreachable } from './problem.ts';
import { session } from './session.ts';

/** All API calls go through this client. It throws failures as a `Problem`; a rejected credential ends the session. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: call });

/** Sends a request as `fetch` does. */
export type Transport = (request: Request) => Promise<Response>;

/** For requests that the typed client can't make: streams, files, and a model's own input and output. */
export async function call(
  input: Request | string,
  init?: RequestInit,
  transport: Transport = fetch,
): Promise<Response> {
  const credential = session.credential();
  const request = new Request(input, init);
  const isOurs = new URL(request.url).origin === location.origin;
  const isOfSession = credential !== null && isOurs && !request.headers.has('authorization');
  if (isOfSession) request.headers.set('authorization', `Bearer ${credential}`);
  let response: Response;
  try {
    response = await transport(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  // The user may have signed in again while this call was in flight.
  if (response.status === 401 && isOfSession && credential === session.credential()) session.signOut('ended');
  throw await problemOf(response);
}

/** The response body. Failures have already been thrown. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  return data as T;
}
