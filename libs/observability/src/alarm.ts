/** Times that lie within a step of each other ring once. */
const stepMs = 50;

/** Calls `ring` when what it was set for is due. It does not keep the process alive. */
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
