const patienceMs = 5000;
const nothing = (): void => {};

/**
 * A run that comes back from a dead worker goes alone: it may be what killed that worker, and whatever is being
 * submitted in a process that dies ends with its outcome unknown. So a suspect waits until nothing is being
 * submitted here, and lets nothing start meanwhile. Both waits are short, because most suspects are innocent.
 */
export class Isolation {
  private readonly submissions = new Set<Promise<unknown>>();
  /** Resolves when the last suspect in line has had its turn; null when there is none. */
  private line: Promise<void> | null = null;

  constructor(private readonly waitMs = patienceMs) {}

  /** Runs beside other submissions, but not beside a suspect. */
  async among<T>(work: () => Promise<T>): Promise<T> {
    while (this.line) await this.line;
    return this.tracked(work);
  }

  /** Runs when nothing is being submitted. Neither it nor the others are kept waiting for one another for long. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.line;
    let end = nothing;
    const mine = new Promise<void>((resolve) => (end = resolve));
    this.line = mine;
    const leave = () => {
      if (this.line === mine) this.line = null;
      end();
    };
    let timer: NodeJS.Timeout | undefined;
    try {
      await turn;
      await this.quiet();
      timer = setTimeout(leave, this.waitMs);
      return await this.tracked(work);
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  private async tracked<T>(work: () => Promise<T>): Promise<T> {
    const working = work();
    this.submissions.add(working);
    try {
      return await working;
    } finally {
      this.submissions.delete(working);
    }
  }

  private async quiet(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, this.waitMs)));
    await Promise.race([Promise.allSettled(this.submissions), late]);
    clearTimeout(timer);
  }
}
