/**
 * Gets the announcement of the outcome, unless it was lost or the transport carries only run ids. `row` is the row of the
 * run where this process has read it by itself.
 */
type Wake<Row> = (announcement?: Buffer, row?: Row) => void;

const leaveAfterMs = 1_000;

/** Wakes listeners of runs. Signals that are published while the server is away are lost: the row is the truth. */
export abstract class RunSignals<Row = unknown> {
  private readonly byRun = new Map<string, Set<Wake<Row>>>();
  /** Runs whose last subscriber has left and of which the server has not been told yet. */
  private readonly left = new Set<string>();

  /**
   * Tells every subscriber of the run, in every process, that its row has changed. `announcement` spares them reading
   * it, and may not arrive. Never rejects.
   */
  abstract publish(runId: string, announcement?: Buffer): Promise<void>;

  /**
   * Calls `wake` each time the run is published until the returned function is called, and once after every
   * reconnection, because signals that were published meanwhile are lost.
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

  /** The run has its first subscriber in this process. */
  protected abstract added(runId: string): void;
  /** The runs have no subscriber in this process any more. */
  protected abstract removed(runIds: string[]): void;

  /** The runs that have a subscriber in this process. */
  get runIds(): string[] {
    return [...this.byRun.keys()];
  }

  /** Wakes the subscribers of the run in this process alone. */
  wake(runId: string, announcement?: Buffer, row?: Row): void {
    // A copy, because a subscriber that wakes usually leaves and may come back at once.
    for (const wake of Array.from(this.byRun.get(runId) ?? [])) wake(announcement, row);
  }

  /** Tells every subscriber in this process that the row of its run may have changed. */
  wakeAll(): void {
    for (const runId of this.runIds) this.wake(runId);
  }

  /** One command unsubscribes from all runs that were left within a second: one per call would be a tenth of its cost. */
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
