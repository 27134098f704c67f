import { jittered, waitIn, type Waits } from '#observability';
import { type JobResult, retryIn } from './run-worker.js';

interface Limits {
  /** Slots of one key. */
  max: number;
  /** How many of them one holder may have. */
  maxOfHolder?: number;
  /** Gets the number of slots that are held, of all keys, each time it changes. */
  onTotal?: (held: number) => void;
}

interface Key {
  held: number;
  byHolder: Map<string, number>;
  /** Jobs that wait for the next slot, in turn. */
  waits: Waits<Disposable | null>;
  /** Slots given back in the window of `maxWaitMs` that began at `sinceMs`, and in the window before it. */
  given: { sinceMs: number; now: number; before: number };
}

/** The longest wait for a slot. A job that would wait longer goes back to its queue, so that jobs of other keys are handled. */
const maxWaitMs = 500;
const againMs = 5_000;

/**
 * Concurrency slots for each key, such as a provider: calls that hang take their own key's slots and nobody else's. Where
 * several holders share a key, such as the workspaces, each may have a part of its slots.
 */
export class Slots {
  private readonly keys = new Map<string, Key>();
  private total = 0;

  constructor(private readonly limits: Limits) {}

  /** How many slots of the key are free. */
  free(key: string): number {
    return this.limits.max - (this.keys.get(key)?.held ?? 0);
  }

  /** How many slots of the key each holder has. */
  heldOf(key: string): ReadonlyMap<string, number> {
    return this.keys.get(key)?.byHolder ?? new Map<string, number>();
  }

  /** Null when the key's slots, or the holder's part of them, are taken. Disposing of a slot gives it back. */
  acquire(key: string, holder = ''): Disposable | null {
    const { max, maxOfHolder = max } = this.limits;
    if (this.free(key) <= 0 || (this.heldOf(key).get(holder) ?? 0) >= maxOfHolder) return null;
    const entry = this.keys.get(key) ?? {
      held: 0,
      byHolder: new Map<string, number>(),
      waits: new Set(),
      given: { sinceMs: performance.now(), now: 0, before: 0 },
    };
    this.keys.set(key, entry);
    this.change(entry, holder, 1);
    return {
      [Symbol.dispose]: () => {
        this.change(entry, holder, -1);
        startWindow(entry);
        entry.given.now += 1;
        const [next] = entry.waits;
        next?.(this.acquire(key));
        // Callers choose some of the keys.
        if (entry.held === 0) this.keys.delete(key);
      },
    };
  }

  /**
   * Does a job's work under a slot of its key; a job that finds none soon comes again later. One whose signal has aborted by
   * then goes back.
   */
  async during(key: string, signal: AbortSignal, work: () => Promise<JobResult>): Promise<JobResult> {
    using slot = this.acquire(key) ?? (await this.next(key));
    if (slot === null) return retryIn(jittered(againMs, 0.5));
    return signal.aborted ? retryIn(0) : await work();
  }

  private async next(key: string): Promise<Disposable | null> {
    const entry = this.keys.get(key);
    if (entry === undefined) return null;
    startWindow(entry);
    // Quick calls give back more slots than there are while a job waits.
    if (entry.waits.size >= Math.max(this.limits.max, entry.given.before)) return null;
    return waitIn(entry.waits, { maxMs: maxWaitMs }).catch(() => null);
  }

  private change(entry: Key, holder: string, by: 1 | -1): void {
    entry.held += by;
    const ofHolder = (entry.byHolder.get(holder) ?? 0) + by;
    if (ofHolder === 0) entry.byHolder.delete(holder);
    else entry.byHolder.set(holder, ofHolder);
    this.limits.onTotal?.((this.total += by));
  }
}

function startWindow({ given }: Key): void {
  const nowMs = performance.now();
  const passedMs = nowMs - given.sinceMs;
  if (passedMs < maxWaitMs) return;
  given.before = passedMs < 2 * maxWaitMs ? given.now : 0;
  given.now = 0;
  given.sinceMs = nowMs;
}
