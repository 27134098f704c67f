import { waitIn, type Waits } from './waits.js';

interface TurnLimits {
  /** Works under way at once; left out, as many as there are. */
  max?: number;
  /** Works of one key at once; left out, as many as of all. */
  maxOfOne?: number;
  /** Works of one key that wait; more are refused. */
  maxWaitingOfOne?: number;
  maxWaitMs?: number;
  /** Makes the error for a work that is refused, or that has waited too long. */
  refusal?: () => Error;
}

/**
 * Does works in turns of their keys, such as workspaces: the next free place goes to another key whenever one waits, so a
 * key with a thousand works delays another one by one of them.
 */
export class Turns {
  private readonly running = new Map<string, number>();
  /** The works that wait, by key; the first key that may run is next. */
  private readonly lines = new Map<string, Waits<void>>();
  private count = 0;
  private readonly limits: Required<TurnLimits>;

  constructor({ max = Infinity, ...limits }: TurnLimits) {
    this.limits = {
      max,
      maxOfOne: max,
      maxWaitingOfOne: Infinity,
      maxWaitMs: Infinity,
      refusal: () => new Error('too many works wait'),
      ...limits,
    };
  }

  /** Does the work when it is the turn of its key. Rejects with the signal's reason when that aborts before. */
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
      // Behind all others.
      this.lines.delete(key);
      this.begin(key);
      begin();
      if (line.size > 0) this.lines.set(key, line);
      return;
    }
  }
}
