/** What the person at the terminal sees of a start: one line for each step, with what it took. */
export class Steps {
  constructor(
    private readonly write: (text: string) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Runs one step; its line says what `describe` makes of the result. */
  async run<T>(name: string, work: () => Promise<T>, describe: (result: T) => string): Promise<T> {
    this.signal.throwIfAborted();
    const startedMs = performance.now();
    const result = await work();
    this.signal.throwIfAborted();
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(2);
    this.write(`${name.padEnd(10)} ${seconds.padStart(6)} s  ${describe(result)}\n`);
    return result;
  }
}
