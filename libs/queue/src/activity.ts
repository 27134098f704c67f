/**
 * Whether this worker still takes jobs. It is stuck when work has waited for a minute, it is doing nothing, and it took
 * nothing: then only a restart helps. A server that is away counts no waiting work, and one that refuses to give any is
 * no fault of this process, so an outage of a dependency never restarts anybody.
 */
export class Activity {
  private working = 0;
  private idleWhileWaitingSinceMs: number | null = null;

  constructor(
    private readonly patienceMs = 60_000,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  get isStuck(): boolean {
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

  /** Jobs that wait in the queues, by a count made just now. */
  noteWaiting(jobs: number): void {
    if (jobs === 0 || this.working > 0) this.idleWhileWaitingSinceMs = null;
    else this.idleWhileWaitingSinceMs ??= this.nowMs();
  }

  /** The server was asked for a job and answered with an error, as one does that is out of memory, or a replica. */
  noteRefusal(): void {
    this.idleWhileWaitingSinceMs = null;
  }
}
