/** Lets each key do a bounded number of things at once; what comes above it waits for its turn, in order of arrival. */
export class Turns {
  private readonly held = new Map<string, number>();
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly atOnce: number) {}

  /** Rejects as the work does, or with the signal's reason when that aborts before the turn has come. */
  async during<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const held = this.held.get(key) ?? 0;
    if (held < this.atOnce) this.held.set(key, held + 1);
    else await this.turn(key, signal);
    try {
      return await work();
    } finally {
      this.pass(key);
    }
  }

  private turn(key: string, signal: AbortSignal): Promise<void> {
    const line = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, line);
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        signal.removeEventListener('abort', abort);
        line.delete(begin);
        if (line.size === 0) this.waiting.delete(key);
        end();
      };
      const begin = () => settle(resolve);
      const abort = () => settle(() => reject(signal.reason as Error));
      line.add(begin);
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** To the next in line; without one the turn is free, and a key without turns is forgotten. */
  private pass(key: string): void {
    const [next] = this.waiting.get(key) ?? [];
    if (next) return next();
    const held = (this.held.get(key) ?? 0) - 1;
    if (held > 0) this.held.set(key, held);
    else this.held.delete(key);
  }
}
