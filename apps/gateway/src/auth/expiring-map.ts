/** Remembers values until a time each. Bounded: the entry that was set longest ago makes room. */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, { value: Value; untilMs: number }>();

  constructor(private readonly mostEntries: number) {}

  get(key: string, nowMs: number): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs > nowMs) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, untilMs: number): void {
    this.entries.delete(key);
    this.entries.set(key, { value, untilMs });
    if (this.entries.size <= this.mostEntries) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }

  get size(): number {
    return this.entries.size;
  }
}
