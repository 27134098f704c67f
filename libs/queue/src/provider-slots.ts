import { jittered, waitIn, type Waits } from '#observability';
import { type JobResult, retryIn } from './run-worker.js';

/** A share of a provider's concurrency; give it back once. */
export interface Slot {
  /** The workspace of the run that holds it; null until that is known. */
  workspaceId: string | null;
  release(): void;
}

/** Jobs for which a slot is to be expected within this time wait for it here. */
const maxWaitMs = 500;
/** How late at most a job that found no slot comes again. */
const maxRetryMs = 5_000;
const minRetryMs = 50;

interface Provider {
  held: Map<Slot, number>;
  /** Jobs that wait for the next slot, in turn. */
  waiting: Waits<Slot | null>;
  /** How long slots were held lately, on average. */
  holdMs: number;
  /** When the last of those that found no slot comes again. */
  lastRetryAtMs: number;
}

/**
 * Concurrency slots for each provider inside a shared queue: calls that hang take their own provider's slots and
 * nobody else's.
 */
export class ProviderSlots {
  private readonly providers = new Map<string, Provider>();
  private total = 0;

  /** `onTotal` gets the number of slots that are held, of all providers, each time it changes. */
  constructor(
    readonly perProvider: number,
    private readonly onTotal: (held: number) => void = () => {},
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Null when the provider's slots are taken, or as many of them as `limit` says. */
  acquire(provider: string, limit = this.perProvider): Slot | null {
    const { held } = this.of(provider);
    if (held.size >= Math.min(limit, this.perProvider)) return null;
    const slot: Slot = { workspaceId: null, release: () => this.release(provider, slot) };
    held.set(slot, this.nowMs());
    this.onTotal((this.total += 1));
    return slot;
  }

  /**
   * Does a job's work under a slot of its provider; a job that finds none soon comes again later. One whose signal has
   * aborted by then goes back.
   */
  async during(provider: string, signal: AbortSignal, work: () => Promise<JobResult>): Promise<JobResult> {
    const slot = this.acquire(provider) ?? (await this.nextFree(provider));
    if (!slot) return retryIn(this.retryDelayMs(provider));
    try {
      return signal.aborted ? retryIn(0) : await work();
    } finally {
      slot.release();
    }
  }

  /** How many slots of the provider each workspace holds, and how many are held for a run of which that is unknown. */
  held(provider: string): { byWorkspace: Map<string, number>; unknown: number } {
    const byWorkspace = new Map<string, number>();
    let unknown = 0;
    for (const { workspaceId } of this.of(provider).held.keys()) {
      if (workspaceId === null) unknown += 1;
      else byWorkspace.set(workspaceId, (byWorkspace.get(workspaceId) ?? 0) + 1);
    }
    return { byWorkspace, unknown };
  }

  /**
   * When a job that found no slot should come again, in milliseconds. Each is sent to the end of a line that moves as
   * quickly as slots become free, so that the more wait, the longer each does, and none of them spins.
   */
  retryDelayMs(provider: string): number {
    const entry = this.of(provider);
    const now = this.nowMs();
    entry.lastRetryAtMs = Math.max(
      now + minRetryMs,
      entry.lastRetryAtMs + this.holdMs(entry) / this.perProvider,
    );
    return jittered(Math.min(maxRetryMs, entry.lastRetryAtMs - now), 0.25);
  }

  private async nextFree(provider: string): Promise<Slot | null> {
    const entry = this.of(provider);
    const expectedMs = ((entry.waiting.size + 1) * this.holdMs(entry)) / this.perProvider;
    if (expectedMs > maxWaitMs) return null;
    return waitIn(entry.waiting, { maxMs: maxWaitMs }).catch(() => null);
  }

  private release(provider: string, slot: Slot): void {
    const entry = this.of(provider);
    const sinceMs = entry.held.get(slot);
    if (sinceMs === undefined) return;
    entry.held.delete(slot);
    this.onTotal((this.total -= 1));
    entry.holdMs = 0.9 * entry.holdMs + 0.1 * (this.nowMs() - sinceMs);
    const [next] = entry.waiting;
    next?.(this.acquire(provider));
  }

  /** Calls that hang say nothing until they end: the age of those under way counts as well. */
  private holdMs({ held, holdMs }: Provider): number {
    const now = this.nowMs();
    let sum = 0;
    for (const sinceMs of held.values()) sum += now - sinceMs;
    return Math.max(holdMs, held.size === 0 ? 0 : sum / held.size);
  }

  private of(provider: string): Provider {
    const known = this.providers.get(provider);
    if (known) return known;
    const entry: Provider = { held: new Map(), waiting: new Set(), holdMs: 0, lastRetryAtMs: 0 };
    this.providers.set(provider, entry);
    return entry;
  }
}
