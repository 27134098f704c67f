/**
 * Does the work under a signal that aborts after `timeoutMs`, or with `outer` and for its reason. Nothing is left when the
 * work ends: `AbortSignal.any` leaves something on an `outer` that lives long (Node 20), `AbortSignal.timeout` its timer.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  const late = () => controller.abort(new DOMException(`not done within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = setTimeout(late, timeoutMs).unref();
  if (outer?.aborted) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}

/** Whether `work` settles within `ms`; a rejection counts as settled. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(settled, settled);
  });
}

/** The waits in one line, oldest first. Calling one of them ends it with that value. */
export type Waits<Value> = Set<(value: Value) => void>;

interface WaitLimits {
  signal?: AbortSignal | undefined;
  maxMs?: number;
  /** Makes the error of a wait that took `maxMs`. */
  refusal?: () => Error;
}

/**
 * Waits in `line` until its entry is called. Rejects with the signal's reason, or after `maxMs`. However it ends, the
 * entry has left the line by then, so nothing is given to a wait that is over.
 */
export function waitIn<Value = void>(
  line: Waits<Value>,
  { signal, maxMs = Infinity, refusal = () => new Error('waited too long') }: WaitLimits,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      line.delete(entry);
      end();
    };
    const entry = (value: Value) => settle(() => resolve(value));
    const abort = () => settle(() => reject(signal?.reason as Error));
    const late = () => settle(() => reject(refusal()));
    const timer = maxMs === Infinity ? undefined : setTimeout(late, maxMs);
    signal?.addEventListener('abort', abort, { once: true });
    line.add(entry);
  });
}

interface BackoffTerms {
  baseMs: number;
  maxMs: number;
  /** The share of the pause that is random, so that what failed together does not come back together. */
  jitter?: number;
}

/** Milliseconds to pause before attempt `attempt` (from 1): doubles from `baseMs`, never exceeds `maxMs`. */
export function backoff(attempt: number, { baseMs, maxMs, jitter = 0.5 }: BackoffTerms): number {
  return jittered(Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30)), jitter);
}

/** `ms`, less a random part of at most `share` of it; a whole number. */
export const jittered = (ms: number, share: number): number => Math.round(ms * (1 - share * Math.random()));
