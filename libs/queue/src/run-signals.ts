/**
 * Receives the announcement of the outcome, unless it was lost or the transport carries only run ids. `row`
 * is the row of the run if this process has read it already.
 */
type Wake<Row> = (announcement?: Buffer, row?: Row) => void;

const leaveAfterMs = 1_000;

/** Wakes the subscribers of runs. Signals are lost while the server is down; the row is the truth. */
export abstract class RunSignals<Row = unknown> {
  private readonly byRun = new Map<string, Set<Wake<Row>>>();
  /** Runs whose last subscriber has left, until the server is told. */
  private readonly left = new Set<string>();

  /**
   * Tells every subscriber of the run, in every process, that its row has changed. The announcement saves
   * them reading the row, but may be lost. Never rejects.
   */
  abstract publish(runId: string, announcement?: Buffer): Promise<void>;

  /**
   * Calls `wake` each time that the run is published, and after every reconnection, because signals published
   * meanwhile are lost. The returned function ends the subscription.
   */
  subscribe(runId: string, wake: Wake<Row>): () => void {
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
      this.leave(runId);
    };
  }

  abstract close(): Promise<void>;

  /** Called when a run gets its first subscriber in this process. */
  protected abstract added(runId: string): void;
  /** Called when runs have lost their last subscriber in this process. */
  protected abstract removed(runIds: string[]): void;

  /** The runs with a subscriber in this process. */
  get runIds(): string[] {
    return [...this.byRun.keys()];
  }

  /** Wakes the run's subscribers in this process only. */
  wake(runId: string, announcement?: Buffer, row?: Row): void {
    // Iterates over a copy, because a subscriber that wakes usually leaves and may subscribe again at once.
    for (const wake of Array.from(this.byRun.get(runId) ?? [])) wake(announcement, row);
  }

  /** Tells every subscriber in this process that the row of its run may have changed. */
  wakeAll(): void {
    for (const runId of this.runIds) this.wake(runId);
  }

  /** One command unsubscribes from all runs that were left within a second, because a command per call is a tenth of its cost. */
  private leave(runId: string): void {
    if (this.left.size === 0) {
      setTimeout(() => {
        const gone = [...this.left].filter((each) => !this.byRun.has(each));
        this.left.clear();
        if (gone.length > 0) this.removed(gone);
      }, leaveAfterMs).unref();
    }
    this.left.add(runId);
  }
}
