/** Times are rounded up to this step, so that several within one step ring only once. */
const stepMs = 50;

/** Calls `ring` at each time that it was set for. It does not keep the process alive. */
export class Alarm {
  private readonly dueMs = new Set<number>();

  constructor(private readonly ring: () => void) {}

  set(afterMs: number): void {
    if (afterMs <= 0) return this.ring();
    const dueMs = Math.ceil((performance.now() + afterMs) / stepMs) * stepMs;
    if (this.dueMs.has(dueMs)) return;
    this.dueMs.add(dueMs);
    const due = () => {
      this.dueMs.delete(dueMs);
      this.ring();
    };
    setTimeout(due, dueMs - performance.now()).unref();
  }
}
