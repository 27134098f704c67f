/** A share of a budget: it grows while bytes arrive and is given back at once. */
export interface Share {
  /** Waits while the budget is spent; rejects with the signal's reason when that comes first. */
  grow(bytes: number, signal: AbortSignal): Promise<void>;
}

/**
 * Bounds the bytes of all bodies that a process holds. Whoever wants more than is left waits until others have
 * given theirs back, except for the oldest share: it always goes on, so that there is always one that ends. What
 * is held is therefore at most the budget and one body.
 */
export class ByteBudget {
  private held = 0;
  /** Holders in FIFO order; the oldest may exceed the limit so that one always makes progress. */
  private readonly shares = new Set<Share>();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limit: number) {}

  /** Work with a share that is given back when it is done. */
  async during<T>(work: (share: Share) => Promise<T>): Promise<T> {
    const share = this.open();
    try {
      return await work(share);
    } finally {
      share.release();
    }
  }

  private open(): Share & { release(): void } {
    let mine = 0;
    const share: Share & { release(): void } = {
      grow: async (bytes, signal) => {
        this.shares.add(share);
        while (this.held + bytes > this.limit && !this.isOldest(share)) await this.change(signal);
        this.held += bytes;
        mine += bytes;
      },
      release: () => {
        this.held -= mine;
        mine = 0;
        if (!this.shares.delete(share)) return;
        for (const wake of this.waiting) wake();
      },
    };
    return share;
  }

  private isOldest(share: Share): boolean {
    const [oldest] = this.shares;
    return oldest === share;
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', abort);
        end();
      };
      const wake = () => settle(resolve);
      const abort = () => settle(() => reject(signal.reason as Error));
      if (signal.aborted) return abort();
      this.waiting.add(wake);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
