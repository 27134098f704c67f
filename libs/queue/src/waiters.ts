/** Who waits for which run in this process. */
export class Waiters {
  private readonly byRun = new Map<string, Set<() => void>>();

  /** True when it is the run's first waiter. */
  add(runId: string, wake: () => void): boolean {
    const present = this.byRun.get(runId);
    if (present) {
      present.add(wake);
      return false;
    }
    this.byRun.set(runId, new Set([wake]));
    return true;
  }

  /** True when it was the run's last waiter. */
  remove(runId: string, wake: () => void): boolean {
    const present = this.byRun.get(runId);
    if (!present?.delete(wake) || present.size > 0) return false;
    this.byRun.delete(runId);
    return true;
  }

  wake(runId: string): void {
    // A copy, because a waiter that wakes usually leaves and may come back at once.
    const present = [...(this.byRun.get(runId) ?? [])];
    for (const wake of present) wake();
  }

  /** Announcements made while the connection was away are lost, so after a reconnection everybody looks. */
  wakeAll(): void {
    for (const runId of this.runIds()) this.wake(runId);
  }

  has(runId: string): boolean {
    return this.byRun.has(runId);
  }

  runIds(): string[] {
    return [...this.byRun.keys()];
  }
}
