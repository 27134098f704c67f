/**
 * Runs `work` with a signal that aborts after `timeoutMs`, or together with `outer` and with its reason.
 * Nothing is left behind when the work ends, whereas `AbortSignal.any` leaks on a long-lived `outer` (Node
 * 20) and `AbortSignal.timeout` keeps its timer.
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

/** Resolves with whether `work` settles within `ms`. A rejection counts as settled. */
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

/** Pending waiters, oldest first. Calling one resolves its promise with the given value. */
export type Waits<Value> = Set<(value: Value) => void>;

interface WaitLimits {
  signal?: AbortSignal | undefined;
  maxMs?: number;
  /** Creates the error of a wait that took `maxMs`. */
  refusal?: () => Error;
}

/**
 * Waits in `line` until its entry is called. Rejects with the signal's reason, or after `maxMs`. The entry leaves
 * the line before the promise settles, so no value is handed to a waiter that has given up.
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
  /** The fraction of the pause that is random, so that work that failed together is not retried together. */
  jitter?: number;
}

/** Milliseconds to pause after the `attempt`-th failure (from 1): doubles from `baseMs`, never exceeds `maxMs`. */
export function backoff(attempt: number, { baseMs, maxMs, jitter = 0.5 }: BackoffTerms): number {
  return jittered(Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30)), jitter);
}

/** `ms` reduced by a random part of up to `share` of it, as a whole number. */
export const jittered = (ms: number, share: number): number => Math.round(ms * (1 - share * Math.random()));
