/** Remembers which values were seen. */
export class Traces {
  private readonly seen = new Set<string>();

  /** Whether the value is a text that comes for the first time. */
  isNew(value: unknown): boolean {
    if (typeof value !== 'string' || value === '' || this.seen.has(value)) return false;
    this.seen.add(value);
    return true;
  }
}
