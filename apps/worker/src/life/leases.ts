import type { Log } from '#observability';
import type { RunRepository } from '#persistence';

interface Held {
  runId: string;
  epoch: number;
}

/** Keeps the leases of this worker's claims alive while their submissions are in the air: one statement for all. */
export class Leases {
  private readonly held = new Set<Held>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dispatching: RunRepository,
    private readonly leaseMs: number,
    private readonly log: Log,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.renew(), this.leaseMs / 3);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async during<T>(held: Held, work: () => Promise<T>): Promise<T> {
    this.held.add(held);
    try {
      return await work();
    } finally {
      this.held.delete(held);
    }
  }

  private async renew(): Promise<void> {
    if (this.held.size === 0) return;
    try {
      await this.dispatching.renewLeases([...this.held], this.leaseMs);
    } catch (error) {
      this.log.warn({ error, claims: this.held.size }, 'leases could not be renewed');
    }
  }
}
