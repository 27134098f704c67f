import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';
import { problemOf, unreachable } from './problem.ts';
import { session } from './session.ts';

/** Every call of the console. A failure is thrown as a `Problem`; a refused credential ends the session. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: call });

/** For what has no place in a typed call: streams, files, a model's own input and output. */
export async function call(input: Request | string, init?: RequestInit): Promise<Response> {
  const credential = session.credential();
  const request = new Request(input, init);
  const isOurs = new URL(request.url).origin === location.origin;
  const isOfSession = credential !== null && isOurs && !request.headers.has('authorization');
  if (isOfSession) request.headers.set('authorization', `Bearer ${credential}`);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  // Another sign-in may have happened while this call was on its way.
  if (response.status === 401 && isOfSession && credential === session.credential()) session.signOut('ended');
  throw await problemOf(response);
}

/** The body of an answer; failures were thrown before. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  return data as T;
}
