/** The longest delay of a JavaScript timer. A longer one would fire immediately. */
export const maxTimerMs = 2 ** 31 - 1;

export interface TimeLimit {
  /** Aborts after the time limit, when the outer signal aborts (with its reason), or when `end` is called. */
  signal: AbortSignal;
  hasPassed: () => boolean;
  /** Starts the full time again. */
  restart: () => void;
  /** Call this when the work is done or abandoned. Aborts whatever still uses the signal. */
  end: () => void;
}

/**
 * Replaces `AbortSignal.any` and `AbortSignal.timeout`, which hold each other weakly: Node 20 may garbage-collect a
 * signal that a call is still waiting for. Here the timer and the listener hold the signal until `end`.
 */
export function timeLimit(ms: number, outer?: AbortSignal): TimeLimit {
  if (!(ms >= 0)) throw new RangeError(`${ms} ms is not a valid time limit.`);
  const controller = new AbortController();
  const reason = new DOMException('The call reached its time limit.', 'TimeoutError');
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (leftMs: number) => {
    const waitMs = Math.min(leftMs, maxTimerMs);
    const over = () => (leftMs > waitMs ? start(leftMs - waitMs) : controller.abort(reason));
    timer = setTimeout(over, waitMs);
  };
  const abandon = () => controller.abort(outer?.reason);
  start(ms);
  if (outer?.aborted) abandon();
  else outer?.addEventListener('abort', abandon, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => controller.signal.reason === reason,
    restart: () => {
      clearTimeout(timer);
      start(ms);
    },
    end: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abandon);
      controller.abort();
    },
  };
}

/** Settles like the promise, but rejects with the signal's reason as soon as the signal aborts. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon));
  });
}

/** Yields the chunks of a body, and cancels it if the signal aborts, because Node 20 does not pass the abort on. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      // Also covers a signal that was already aborted.
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
