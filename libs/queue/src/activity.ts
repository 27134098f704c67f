/**
 * Tells whether this worker still takes jobs. It is stuck if jobs have waited for a minute while it did
 * nothing and took nothing; then only a restart helps. An outage never restarts a worker: while the server is
 * down no waiting jobs are counted, and errors from the server are not this process's fault.
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

  /** Records the current number of jobs that wait in the queues. */
  noteWaiting(jobs: number): void {
    if (jobs === 0 || this.working > 0) this.idleWhileWaitingSinceMs = null;
    else this.idleWhileWaitingSinceMs ??= this.nowMs();
  }

  /** Records an error in reply to a request for a job, as from a server without memory or a replica. */
  noteRefusal(): void {
    this.idleWhileWaitingSinceMs = null;
  }
}
