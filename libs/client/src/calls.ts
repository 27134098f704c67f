import { errorOf, RouterError } from './router-error.js';

export interface Connection {
  /** Without a slash at its end. */
  baseUrl: string;
  credential: Record<string, string>;
  fetch: typeof fetch;
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT';
  /** Below the base address, or an address that the router gave. */
  url: string;
  headers?: Record<string, string>;
  body?: NonNullable<RequestInit['body']>;
  /** Names the run: the request may be repeated, and starts nothing twice. */
  idempotencyKey?: string;
  /** Of one try. A synchronous run has the time limit of the whole call only. */
  tryMs?: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
}

const maxTries = 5;
const defaultTryMs = 60_000;

/** Makes a request until it is answered, as often as that can neither start nor cost anything twice. */
export async function call(connection: Connection, request: Request, signal: AbortSignal): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tried(connection, request, signal);
    } catch (error) {
      if (!(error instanceof RouterError)) throw error;
      const waitMs = waitBeforeRetry(error, tries);
      if (waitMs === undefined) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** What each call sends, and where to: addresses that the router gave are called at the origin that the key is for. */
export function prepared(
  { baseUrl, credential }: Connection,
  { url, headers, idempotencyKey }: Pick<Request, 'url' | 'headers' | 'idempotencyKey'>,
): { url: string; headers: Record<string, string> } {
  const given = url.startsWith('/') ? undefined : new URL(url);
  return {
    url: given ? new URL(given.pathname + given.search, baseUrl).href : baseUrl + url,
    headers: {
      ...credential,
      ...headers,
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
  };
}

async function tried(connection: Connection, request: Request, signal: AbortSignal): Promise<Answer> {
  const { method, body, idempotencyKey, tryMs = defaultTryMs } = request;
  const { url, headers } = prepared(connection, request);
  let answer: Answer;
  try {
    const response = await connection.fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(tryMs)]),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    answer = { status: response.status, headers: response.headers, bytes };
  } catch (cause) {
    signal.throwIfAborted();
    throw new RouterError('service_unavailable', 'The router did not answer.', { cause, idempotencyKey });
  }
  if (answer.status < 400) return answer;
  const said = parsed(answer.bytes);
  // Such a refusal of a cancellation is an answer.
  if ((said as { status?: unknown } | undefined)?.status === 'ALREADY_COMPLETED') return answer;
  throw errorOf(answer.status, answer.headers, said, idempotencyKey);
}

/** Undefined where a retry is of no use, or is the caller's to decide. */
function waitBeforeRetry(error: RouterError, tries: number): number | undefined {
  const backoffMs = Math.min(500 * 2 ** (tries - 1), 5_000) * (0.75 + Math.random() / 2);
  switch (error.bucket) {
    // The run is under way, and the same key collects it.
    case 'deadline_exceeded':
      return error.idempotencyKey === undefined ? undefined : (error.retryAfterMs ?? backoffMs);
    // Nothing was started. There is room when a run of the workspace has ended, unless none is in flight.
    case 'concurrency_limit_exceeded':
      return error.idempotencyKey === undefined || error.committedSpendCents?.current === 0
        ? undefined
        : backoffMs;
    case 'service_unavailable':
      return tries < maxTries ? (error.retryAfterMs ?? backoffMs) : undefined;
    default:
      return undefined;
  }
}

/** Rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abandon = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abandon);
      resolve();
    }, ms);
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}

/** Undefined for what is no JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
