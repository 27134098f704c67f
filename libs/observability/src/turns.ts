import { waitIn, type Waits } from './waits.js';

interface TurnLimits {
  /** Maximum number of running works. Unlimited by default. */
  max?: number;
  /** Maximum number of running works of one key. `max` by default. */
  maxOfOne?: number;
  /** Maximum number of waiting works of one key. Further ones are rejected. */
  maxWaitingOfOne?: number;
  maxWaitMs?: number;
  /** Creates the error for work that is rejected or has waited too long. */
  refusal?: () => Error;
}

/**
 * Lets keys, such as workspaces, take turns: whenever another key waits, it gets the next free place. A key
 * with a thousand works therefore delays the work of another key by only one of them.
 */
export class Turns {
  private readonly running = new Map<string, number>();
  /** The waiting works by key. The first key that may run is next. */
  private readonly lines = new Map<string, Waits<void>>();
  private count = 0;
  private readonly limits: Required<TurnLimits>;

  constructor({ max = Infinity, ...limits }: TurnLimits) {
    this.limits = {
      max,
      maxOfOne: max,
      maxWaitingOfOne: Infinity,
      maxWaitMs: Infinity,
      refusal: () => new Error('too much work is waiting'),
      ...limits,
    };
  }

  /** Does the work when its key's turn comes. Rejects with the signal's reason if it aborts before. */
  async take<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.hasPlace(key)) this.begin(key);
    else await this.turn(key, signal);
    try {
      return await work();
    } finally {
      this.end(key);
    }
  }

  private hasPlace(key: string): boolean {
    return this.count < this.limits.max && (this.running.get(key) ?? 0) < this.limits.maxOfOne;
  }

  private begin(key: string): void {
    this.count += 1;
    this.running.set(key, (this.running.get(key) ?? 0) + 1);
  }

  private end(key: string): void {
    this.count -= 1;
    const left = (this.running.get(key) ?? 1) - 1;
    if (left === 0) this.running.delete(key);
    else this.running.set(key, left);
    this.next();
  }

  private async turn(key: string, signal?: AbortSignal): Promise<void> {
    const { maxWaitingOfOne, maxWaitMs: maxMs, refusal } = this.limits;
    const line: Waits<void> = this.lines.get(key) ?? new Set();
    if (line.size >= maxWaitingOfOne) throw refusal();
    this.lines.set(key, line);
    try {
      await waitIn(line, { signal, maxMs, refusal });
    } finally {
      if (line.size === 0 && this.lines.get(key) === line) this.lines.delete(key);
    }
  }

  private next(): void {
    for (const [key, line] of this.lines) {
      const [begin] = line;
      if (!begin || !this.hasPlace(key)) continue;
      // The key goes to the end.
      this.lines.delete(key);
      this.begin(key);
      begin();
      if (line.size > 0) this.lines.set(key, line);
      return;
    }
  }
}
