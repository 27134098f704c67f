import { Executions } from './execution.js';
import type { Consumption, Handler } from './port.js';

/** How many jobs may wait in the process for each one that may run. */
const WAITING_FOR_EACH = 4;

/** One consumption's share of a lane: its running handlers, and the jobs that wait for one to end. */
export class Seat {
  readonly executions: Executions;
  readonly handle: Handler;
  private readonly concurrency: number;
  private running = 0;
  private readonly queue: ((admitted: boolean) => void)[] = [];
  private closed = false;

  constructor(consumption: Consumption, lockMs: number) {
    this.concurrency = consumption.concurrency;
    this.handle = consumption.handle;
    this.executions = new Executions(lockMs);
  }

  get leaving(): boolean {
    return this.closed;
  }

  /**
   * How many of the worker's slots it fills at most. In a lane that it shares, its waiting jobs have slots
   * of their own, so that a provider whose calls hang never takes another one's.
   */
  slots(shared: boolean): number {
    return shared ? this.concurrency * (1 + WAITING_FOR_EACH) : this.concurrency;
  }

  get full(): boolean {
    return this.executions.size >= this.slots(true);
  }

  /** Waits for a place; false when the signal aborts or the seat leaves first. Each true needs an `exit`. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (this.closed || signal.aborted) return false;
    if (this.running < this.concurrency) {
      this.running += 1;
      return true;
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        this.queue.splice(this.queue.indexOf(settle), 1);
        settle(false);
      };
      const settle = (admitted: boolean) => {
        signal.removeEventListener('abort', giveUp);
        resolve(admitted);
      };
      signal.addEventListener('abort', giveUp);
      this.queue.push(settle);
    });
  }

  /** Hands the place to the one who waits longest. */
  exit(): void {
    const next = this.queue.shift();
    if (next) next(true);
    else this.running -= 1;
  }

  /** From now on nobody enters. */
  leave(): void {
    this.closed = true;
    for (const settle of this.queue.splice(0)) settle(false);
  }
}
