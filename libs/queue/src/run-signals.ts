/** What came with a signal: nothing where it was lost, or where the transport carries only the run's id. */
type Wake = (news?: Buffer) => void;

/** Wakes whoever waits for a run. What is published while the server is away is lost: the row is the truth. */
export abstract class RunSignals {
  private readonly byRun = new Map<string, Set<Wake>>();

  /**
   * Tells every subscriber of the run, in every process, that its row has changed. `news` spares them reading it, and
   * may not arrive. Never rejects.
   */
  abstract publish(runId: string, news?: Buffer): Promise<void>;

  /**
   * Calls `wake` each time the run is published until the returned function is called, and once after every
   * reconnection, because what was published meanwhile is lost.
   */
  subscribe(runId: string, wake: Wake): () => void {
    const present = this.byRun.get(runId);
    if (present) present.add(wake);
    else {
      this.byRun.set(runId, new Set([wake]));
      this.added(runId);
    }
    return () => {
      const wakes = this.byRun.get(runId);
      if (!wakes?.delete(wake) || wakes.size > 0) return;
      this.byRun.delete(runId);
      this.removed(runId);
    };
  }

  abstract close(): Promise<void>;

  /** The run has its first subscriber in this process. */
  protected abstract added(runId: string): void;
  /** The run has lost its last subscriber in this process. */
  protected abstract removed(runId: string): void;

  protected get runIds(): string[] {
    return [...this.byRun.keys()];
  }

  protected wake(runId: string, news?: Buffer): void {
    // Of a copy, because a subscriber that wakes usually leaves and may come back at once.
    const wakes = Array.from(this.byRun.get(runId) ?? []);
    for (const wake of wakes) wake(news);
  }

  protected wakeAll(): void {
    for (const runId of this.runIds) this.wake(runId);
  }
}
