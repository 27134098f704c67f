import type { Log } from './log.js';

/** Tracks work that its caller does not await. Failures are logged as warnings. */
export class UnderWay {
  private readonly all = new Set<Promise<void>>();

  constructor(private readonly log: Pick<Log, 'warn'>) {}

  track(work: Promise<void>, whatFailed: string): void {
    const tracked = work.catch((error: unknown) => this.log.warn({ error }, whatFailed));
    this.all.add(tracked);
    void tracked.finally(() => this.all.delete(tracked));
  }

  /** Resolves when all work has ended, including work that is added meanwhile. */
  async ended(): Promise<void> {
    while (this.all.size > 0) await Promise.all(this.all);
  }
}
