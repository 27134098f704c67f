import { errorOf, RouterError } from './router-error.js';
import { chunksOf, maxTimerMs, type TimeLimit, timeLimit, unlessAborted } from './time-limit.js';

export interface Connection {
  /** Without a trailing slash. */
  baseUrl: string;
  credential: Record<string, string>;
  fetch: typeof fetch;
  /** Called after each attempt, with its error if it failed. */
  tried?: (failure: RouterError | undefined) => void;
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path below the base URL, or a URL from the router. */
  url: string;
  headers?: Record<string, string>;
  body?: NonNullable<RequestInit['body']>;
  /** Identifies the run. Retries with the same key never start a second run. */
  idempotencyKey?: string;
  /** Time limit of one attempt. Synchronous runs use a long one, so that only the limit of the whole call counts. */
  tryMs?: number;
  /** Whether a retryable error is the outcome of the run, so that a retry would return it again. */
  isOutcome?: (error: RouterError) => Promise<boolean>;
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
}

const maxTries = 5;
const defaultTryMs = 60_000;

/** Reads a successful response. Ends the limit, unless the response is still to be read. */
type Take<T> = (response: Response, limit: TimeLimit) => Promise<T>;

/** Makes a request and reads its answer. */
export const call = (connection: Connection, request: Request, signal: AbortSignal): Promise<Answer> =>
  retried(connection, request, signal, async (response, limit) => {
    const { status, headers } = response;
    const bytes = await bytesOf(response, limit.signal);
    limit.end();
    return { status, headers, bytes };
  });

/** Makes a request whose answer is read as it arrives. End the limit when it has been read or is abandoned. */
export const open = (
  connection: Connection,
  request: Request,
  signal: AbortSignal,
): Promise<{ response: Response; limit: TimeLimit }> =>
  retried(connection, request, signal, async (response, limit) => ({ response, limit }));

/** Retries a request only if that can neither start nor bill anything twice. */
async function retried<T>(
  connection: Connection,
  request: Request,
  signal: AbortSignal,
  take: Take<T>,
): Promise<T> {
  let tries = 0;
  let wasUnavailable: boolean | undefined;
  for (;;) {
    try {
      const taken = await tried(connection, request, signal, take);
      connection.tried?.(undefined);
      return taken;
    } catch (error) {
      if (!(error instanceof RouterError)) throw error;
      connection.tried?.(error);
      // Only consecutive failures of this kind count: any other answer shows that the router is up.
      const isUnavailable = error.bucket === 'service_unavailable';
      tries = isUnavailable === wasUnavailable ? tries + 1 : 1;
      wasUnavailable = isUnavailable;
      const waitMs = waitBeforeRetry(error, tries);
      if (waitMs === undefined || (await request.isOutcome?.(error))) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** The URL and headers of a call. URLs from the router are sent to the base URL's origin, the only one the key is for. */
export function prepared(
  { baseUrl, credential }: Connection,
  { url, headers, idempotencyKey }: Pick<Request, 'url' | 'headers' | 'idempotencyKey'>,
): { url: string; headers: Record<string, string> } {
  const given = url.startsWith('/') ? undefined : new URL(url);
  const all = {
    ...credential,
    ...headers,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  // Throws for invalid header values here, so that they are not mistaken for a lost connection.
  void new Headers(all);
  return { url: given ? new URL(given.pathname + given.search, baseUrl).href : baseUrl + url, headers: all };
}

async function tried<T>(
  connection: Connection,
  request: Request,
  signal: AbortSignal,
  take: Take<T>,
): Promise<T> {
  const { method, body, idempotencyKey, tryMs = defaultTryMs } = request;
  const { url, headers } = prepared(connection, request);
  const limit = timeLimit(tryMs, signal);
  try {
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await send(connection, url, init, limit.signal);
    if (response.status < 400) return await take(response, limit);
    const bytes = await bytesOf(response, limit.signal);
    const payload = parsed(bytes);
    // This 400 is a regular answer to a cancellation.
    if ((payload as { status?: unknown } | undefined)?.status === 'ALREADY_COMPLETED')
      return await take(new Response(bytes, response), limit);
    throw errorOf(response.status, response.headers, payload, idempotencyKey);
  } catch (cause) {
    limit.end();
    if (cause instanceof RouterError) throw cause;
    signal.throwIfAborted();
    throw new RouterError('service_unavailable', 'The router did not respond.', { cause, idempotencyKey });
  }
}

async function bytesOf({ body }: Response, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunksOf(body, signal)) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Resolves when the headers arrive. A redirect is an error, because the credential must reach only the router. */
export async function send(
  connection: Connection,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  const answered = connection.fetch(url, { ...init, redirect: 'manual', signal });
  const response = await unlessAborted(answered, signal);
  const { status, headers, type } = response;
  // Browsers hide the target of a redirect.
  if (type !== 'opaqueredirect' && (status < 300 || status >= 400)) return response;
  void response.body?.cancel().catch(() => {});
  const target = headers.get('location') ?? 'another address';
  throw new RouterError('internal_error', `The base URL redirects to ${target}. Use the final URL instead.`, {
    status,
  });
}

/** Undefined if a retry cannot help, or if the caller has to decide. */
function waitBeforeRetry(error: RouterError, tries: number): number | undefined {
  const backoffMs = Math.min(500 * 2 ** (tries - 1), 5_000) * (0.75 + Math.random() / 2);
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs);
  switch (error.bucket) {
    // The run is in progress, and the same key collects it.
    case 'deadline_exceeded':
      return error.idempotencyKey === undefined ? undefined : waitMs;
    // Nothing was started. A finished run makes room, unless no run is in flight.
    case 'concurrency_limit_exceeded':
      return error.idempotencyKey === undefined || error.committedSpendCents?.current === 0
        ? undefined
        : backoffMs;
    case 'service_unavailable':
      return tries < maxTries ? waitMs : undefined;
    default:
      return undefined;
  }
}

/** Waits, or rejects with the signal's reason as soon as it aborts, so that a pause never outlasts the call. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abandon = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', abandon);
        resolve();
      },
      Math.min(ms, maxTimerMs),
    );
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}

/** Undefined if the bytes are not JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
