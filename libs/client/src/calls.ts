import { errorOf, RouterError } from './router-error.js';
import { chunksOf, maxTimerMs, timeLimit, unlessAborted } from './time-limit.js';

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
  /** Whether an error that a retry may help against is how the run ended: then each try ends the same. */
  isOutcome?: (error: RouterError) => Promise<boolean>;
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
  let tries = 0;
  let hadNone: boolean | undefined;
  for (;;) {
    try {
      return await tried(connection, request, signal);
    } catch (error) {
      if (!(error instanceof RouterError)) throw error;
      // An answer in between says that the router is there: tries without one count in a row only.
      const hasNone = error.bucket === 'service_unavailable';
      tries = hasNone === hadNone ? tries + 1 : 1;
      hadNone = hasNone;
      const waitMs = waitBeforeRetry(error, tries);
      if (waitMs === undefined || (await request.isOutcome?.(error))) throw error;
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
  const all = {
    ...credential,
    ...headers,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  // Throws here, where it is no lost connection, what no header can hold.
  void new Headers(all);
  return { url: given ? new URL(given.pathname + given.search, baseUrl).href : baseUrl + url, headers: all };
}

async function tried(connection: Connection, request: Request, signal: AbortSignal): Promise<Answer> {
  const { method, body, idempotencyKey, tryMs = defaultTryMs } = request;
  const { url, headers } = prepared(connection, request);
  const limit = timeLimit(tryMs, signal);
  let answer: Answer;
  try {
    const response = await send(
      connection,
      url,
      { method, headers, ...(body !== undefined && { body }) },
      limit.signal,
    );
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of chunksOf(response.body, limit.signal)) chunks.push(chunk);
    const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    answer = { status: response.status, headers: response.headers, bytes };
  } catch (cause) {
    if (cause instanceof RouterError) throw cause;
    signal.throwIfAborted();
    throw new RouterError('service_unavailable', 'The router did not answer.', { cause, idempotencyKey });
  } finally {
    limit.end();
  }
  if (answer.status < 400) return answer;
  const said = parsed(answer.bytes);
  // Such a refusal of a cancellation is an answer.
  if ((said as { status?: unknown } | undefined)?.status === 'ALREADY_COMPLETED') return answer;
  throw errorOf(answer.status, answer.headers, said, idempotencyKey);
}

/** The answer as soon as its headers are there. A redirect is an error: the credential goes to the router only. */
export async function send(
  connection: Connection,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
): Promise<Response> {
  const answered = connection.fetch(url, { ...init, redirect: 'manual', signal });
  const response = await unlessAborted(answered, signal);
  const { status, headers, type } = response;
  // Browsers hide what it redirects to.
  if (type !== 'opaqueredirect' && (status < 300 || status >= 400)) return response;
  void response.body?.cancel().catch(() => {});
  const target = headers.get('location') ?? 'another address';
  throw new RouterError('internal_error', `The base address redirects to ${target}: correct it.`, { status });
}

/** Undefined where a retry is of no use, or is the caller's to decide. */
function waitBeforeRetry(error: RouterError, tries: number): number | undefined {
  const backoffMs = Math.min(500 * 2 ** (tries - 1), 5_000) * (0.75 + Math.random() / 2);
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs);
  switch (error.bucket) {
    // The run is under way, and the same key collects it.
    case 'deadline_exceeded':
      return error.idempotencyKey === undefined ? undefined : waitMs;
    // Nothing was started. There is room when a run of the workspace has ended, unless none is in flight.
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

/** Rejects with the signal's reason; whatever is waited for, it ends the wait when the time of the call is over. */
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

/** Undefined for what is no JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
