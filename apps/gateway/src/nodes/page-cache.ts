interface Entry {
  body: Buffer;
  bytes: number;
  untilMs: number;
}

/** What an entry takes beside its key and its body, roughly. */
const entryBytes = 200;

/**
 * Bodies that may be some seconds old. One caller has a missing body made, the others wait for it; a failure is
 * told to those who wait and is not kept. Bounded in bytes: what was not asked for longest makes room.
 */
export class PageCache {
  private readonly entries = new Map<string, Entry>();
  private readonly making = new Map<string, Promise<Buffer>>();
  private heldBytes = 0;

  constructor(
    private readonly lifeMs: number,
    private readonly mostBytes: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  async get(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.untilMs > this.nowMs()) {
      this.entries.delete(key);
      this.entries.set(key, entry);
      return entry.body;
    }
    const others = this.making.get(key);
    if (others !== undefined) return others;
    const made = this.renew(key, make).finally(() => this.making.delete(key));
    this.making.set(key, made);
    return made;
  }

  /** Has the body made now, whatever is kept, and keeps it. */
  async renew(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    // The age counts from the reading: the database is asked after this instant.
    const untilMs = this.nowMs() + this.lifeMs;
    const body = await make();
    const kept = this.entries.get(key);
    if (kept === undefined || kept.untilMs <= untilMs) this.keep(key, body, untilMs);
    return body;
  }

  private keep(key: string, body: Buffer, untilMs: number): void {
    this.drop(key);
    const bytes = body.byteLength + 2 * key.length + entryBytes;
    this.entries.set(key, { body, bytes, untilMs });
    this.heldBytes += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.heldBytes <= this.mostBytes) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    this.heldBytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
