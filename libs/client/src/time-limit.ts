/** A timer of JavaScript takes no longer delay: one that is longer is over at once. */
export const maxTimerMs = 2 ** 31 - 1;

export interface TimeLimit {
  /** Aborts when the time is over, when the outer signal does (with its reason), or at the end. */
  signal: AbortSignal;
  hasPassed: () => boolean;
  /** The whole time again. */
  restart: () => void;
  /** To be called when the work is done, or given up: ends what still goes on under the signal. */
  end: () => void;
}

/**
 * In place of `AbortSignal.any` and `AbortSignal.timeout`: those hold each other weakly, and on Node 20 a garbage collection
 * may take a signal that a call still waits for. Here the timer and the listener hold the signal until the end.
 */
export function timeLimit(ms: number, outer?: AbortSignal): TimeLimit {
  if (!(ms >= 0)) throw new RangeError(`A time limit of ${ms} ms is none.`);
  const controller = new AbortController();
  const reason = new DOMException('The time limit has passed.', 'TimeoutError');
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

/** What the promise gives, or the signal's reason as soon as that aborts, whatever the promise goes on waiting for. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abandon));
  });
}

/** The chunks of a body. It is cancelled when the signal aborts: Node 20 passes no abort on to the body of an answer. */
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
      // Also where the signal had aborted before.
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
