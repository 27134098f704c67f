/** Work for which several wait. It is stopped when the last of them has stopped waiting. */
export class SharedWork<Result> {
  private waiting = 0;
  private readonly stop = new AbortController();
  private readonly result: Promise<Result>;

  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    this.result = work(this.stop.signal);
    // It rejects when nobody waits any more.
    this.result.catch(() => {});
  }

  /** Nobody waits for it: whoever comes now has to begin anew. */
  get isLeft(): boolean {
    return this.waiting === 0;
  }

  /** Rejects as the work does, or with the signal's reason. */
  async wait(signal: AbortSignal): Promise<Result> {
    this.waiting += 1;
    try {
      return await unlessAborted(this.result, signal);
    } finally {
      this.waiting -= 1;
      if (this.isLeft) this.stop.abort();
    }
  }
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
