/** The longest a command may take, counted from the last time it was set. */
export class TimeLimit {
  private timer: NodeJS.Timeout | undefined;
  private late: (error: Error) => void = () => {};
  private readonly passed = new Promise<never>((_resolve, reject) => {
    this.late = reject;
  });

  get isSet(): boolean {
    return this.timer !== undefined;
  }

  set(seconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late(new Error(`No end after ${seconds} s; whether the change was made is not known.`));
    }, seconds * 1000);
  }

  /** The work, or the failure that it took too long. */
  async hold<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.passed]);
    } finally {
      clearTimeout(this.timer);
    }
  }
}
