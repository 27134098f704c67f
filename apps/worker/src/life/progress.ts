/**
 * Whether this worker still takes jobs. It is wedged when work has waited for a minute, it is doing nothing, and
 * it took nothing: then only a restart helps. A transport that is away counts no waiting work, so an outage of a
 * dependency never restarts anybody.
 */
export class Progress {
  private working = 0;
  private idleWhileWaitingSinceMs: number | null = null;

  constructor(
    private readonly patienceMs = 60_000,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  get wedged(): boolean {
    const sinceMs = this.idleWhileWaitingSinceMs;
    return sinceMs !== null && this.nowMs() - sinceMs >= this.patienceMs;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.working += 1;
    this.idleWhileWaitingSinceMs = null;
    try {
      return await work();
    } finally {
      this.working -= 1;
    }
  }

  /** Jobs that wait in the lanes of this worker, by a count made just now. */
  noteWaiting(jobs: number): void {
    if (jobs === 0 || this.working > 0) this.idleWhileWaitingSinceMs = null;
    else this.idleWhileWaitingSinceMs ??= this.nowMs();
  }
}
