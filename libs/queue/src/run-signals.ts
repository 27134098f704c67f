/**
 * Called with what came with a signal: nothing where it was lost, or where the transport carries only the run's id. `row` is
 * the row of the run where this process has read it by itself.
 */
type Wake<Row> = (news?: Buffer, row?: Row) => void;

/** Wakes listeners of runs. Signals that are published while the server is away are lost: the row is the truth. */
export abstract class RunSignals<Row = unknown> {
  private readonly byRun = new Map<string, Set<Wake<Row>>>();
  /** Runs whose last subscriber has left in this turn of the event loop. */
  private readonly left = new Set<string>();

  /**
   * Tells every subscriber of the run, in every process, that its row has changed. `news` spares them reading it, and
   * may not arrive. Never rejects.
   */
  abstract publish(runId: string, news?: Buffer): Promise<void>;

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

  /** Tells the subscribers of the run in this process alone. */
  wake(runId: string, news?: Buffer, row?: Row): void {
    // A subscriber that wakes usually leaves and may come back at once, so this is a copy.
    for (const wake of Array.from(this.byRun.get(runId) ?? [])) wake(news, row);
  }

  /** Tells every subscriber in this process that the row of its run may have changed. */
  wakeAll(): void {
    for (const runId of this.runIds) this.wake(runId);
  }

  /** The server learns of it last: the subscriber that leaves has an answer to send, and others leave in the same turn. */
  private leave(runId: string): void {
    if (this.left.size === 0) {
      setImmediate(() => {
        const gone = [...this.left].filter((each) => !this.byRun.has(each));
        this.left.clear();
        if (gone.length > 0) this.removed(gone);
      });
    }
    this.left.add(runId);
  }
}
