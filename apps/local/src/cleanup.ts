type End = () => Promise<void> | void;

/** What has been started, so that it can be ended in the opposite order, after success and after failure. */
export class Cleanup {
  private readonly ends: End[] = [];
  private running: Promise<void> | undefined;

  /** While the rest is being ended already, this is ended at once. */
  add(end: End): void {
    if (this.running) void attempt(end);
    else this.ends.push(end);
  }

  run(): Promise<void> {
    this.running ??= this.runAll();
    return this.running;
  }

  private async runAll(): Promise<void> {
    for (const end of this.ends.toReversed()) await attempt(end);
  }
}

/** A part that fails to end must not keep the others from ending. */
async function attempt(end: End): Promise<void> {
  try {
    await end();
  } catch {
    // Nothing else can be done about it here.
  }
}
