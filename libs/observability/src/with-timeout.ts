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
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = work.then(
    () => true as const,
    () => true as const,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
