import { jittered, waitIn, type Waits } from '#observability';
import { type JobResult, putBackFor } from '#queue';

export interface Limits {
  /** Number of slots of each key. */
  max: number;
  /** Maximum number of a key's slots that one holder may have. */
  maxOfHolder?: number;
  /** Called with the total number of held slots of all keys each time it changes. */
  onTotal?: (held: number) => void;
}

interface Key {
  held: number;
  byHolder: Map<string, number>;
  /** Jobs that wait for the next slot, in order. */
  waits: Waits<Disposable | null>;
  /** Slots given back in the window of `maxWaitMs` that began at `sinceMs`, and in the window before it. */
  given: { sinceMs: number; now: number; before: number };
}

/** The longest wait for a slot. A job that would wait longer is put back, so that jobs of other keys are handled. */
const maxWaitMs = 500;
const againMs = 5_000;

/**
 * Concurrency slots for each key, such as a provider, so that calls that hang use up only their own key's
 * slots. If several holders, such as workspaces, share a key, each may be limited to a part of its slots.
 */
export class Slots {
  private readonly keys = new Map<string, Key>();
  private total = 0;

  constructor(private readonly limits: Limits) {}

  /** How many slots of the key are free. */
  free(key: string): number {
    return this.limits.max - (this.keys.get(key)?.held ?? 0);
  }

  /** How many slots of the key are held, and how many there are. */
  usage(key: string): { busy: number; total: number } {
    return { busy: this.keys.get(key)?.held ?? 0, total: this.limits.max };
  }

  /** The number of the key's slots that each holder has. */
  heldOf(key: string): ReadonlyMap<string, number> {
    return this.keys.get(key)?.byHolder ?? new Map<string, number>();
  }

  /** Null if all slots of the key or of the holder are taken. Disposing of a slot releases it. */
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
        // Unused keys are dropped, because callers choose some of them.
        if (entry.held === 0) this.keys.delete(key);
      },
    };
  }

  /**
   * Does a job's work under a slot of its key. A job that does not get one soon is retried later, and one
   * whose signal has aborted by then is put back.
   */
  async during(key: string, signal: AbortSignal, work: () => Promise<JobResult>): Promise<JobResult> {
    using slot = this.acquire(key) ?? (await this.next(key));
    if (slot === null) return putBackFor(jittered(againMs, 0.5));
    return signal.aborted ? putBackFor(0) : await work();
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
