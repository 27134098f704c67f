/** Where failures are logged: a log, or a filter in front of it. */
interface FailureLog {
  warn(facts: { error: unknown; [fact: string]: unknown }, message: string): void;
}

/** Tracks work that its caller does not await. Failures are logged as warnings. */
export class UnderWay {
  private readonly all = new Set<Promise<void>>();

  constructor(private readonly log: FailureLog) {}

  /** `facts` are further fields of the line about a failure, such as the run's id. */
  track(work: Promise<void>, whatFailed: string, facts: { run_id?: string } = {}): void {
    const tracked = work.catch((error: unknown) => this.log.warn({ ...facts, error }, whatFailed));
    this.all.add(tracked);
    void tracked.finally(() => this.all.delete(tracked));
  }

  /** Resolves when all work has ended, including work that is added meanwhile. */
  async ended(): Promise<void> {
    while (this.all.size > 0) await Promise.all(this.all);
  }
}
