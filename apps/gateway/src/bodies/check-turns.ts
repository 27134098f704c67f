import { RouterError } from '#errors';

/** Larger bodies take seconds: one at a time, so that they never hold every thread. */
const largeBytes = 1024 * 1024;

interface Waiting {
  bytes: number;
  begin: () => void;
}

interface Line {
  waiting: Waiting[];
  isUnderWay: boolean;
  /** Bytes that were checked for the workspace since it came, plus what others had then. */
  servedBytes: number;
}

/**
 * Turns among workspaces, which share the threads by bytes: the next body is one of the workspace that was served least.
 * A workspace has one body under way at a time, so that it delays no other one by more than that.
 */
export class CheckTurns {
  private readonly lines = new Map<string, Line>();
  private underWay = 0;
  private isLargeUnderWay = false;
  private waiting = 0;

  constructor(
    private readonly maxUnderWay: number,
    private readonly maxWaiting: number,
  ) {}

  /**
   * Acts when it is the workspace's turn. Throws a 503 for a workspace that has as many bodies waiting as there is room
   * left for others, and the signal's reason when that aborts during the wait.
   */
  async inTurn<Result>(
    workspaceId: string,
    bytes: number,
    signal: AbortSignal,
    act: () => Promise<Result>,
  ): Promise<Result> {
    const line = this.lineOf(workspaceId);
    await this.turn(line, bytes, signal).finally(() => this.forgetIdle(workspaceId, line));
    try {
      return await act();
    } finally {
      line.isUnderWay = false;
      line.servedBytes += bytes;
      this.underWay -= 1;
      if (bytes > largeBytes) this.isLargeUnderWay = false;
      this.forgetIdle(workspaceId, line);
      this.beginNext();
    }
  }

  private lineOf(workspaceId: string): Line {
    const known = this.lines.get(workspaceId);
    if (known !== undefined) return known;
    // A workspace that was away has saved nothing up.
    const servedBytes = Math.min(...[...this.lines.values()].map((each) => each.servedBytes));
    const line = {
      waiting: [],
      isUnderWay: false,
      servedBytes: Number.isFinite(servedBytes) ? servedBytes : 0,
    };
    this.lines.set(workspaceId, line);
    return line;
  }

  private forgetIdle(workspaceId: string, { waiting, isUnderWay }: Line): void {
    if (waiting.length === 0 && !isUnderWay) this.lines.delete(workspaceId);
  }

  private turn(line: Line, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (line.waiting.length >= this.maxWaiting - this.waiting) return reject(tooManyWaiting());
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(entry), 1);
        this.waiting -= 1;
        reject(signal.reason as Error);
      };
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const entry = { bytes, begin };
      signal.addEventListener('abort', leave, { once: true });
      line.waiting.push(entry);
      this.waiting += 1;
      this.beginNext();
    });
  }

  private beginNext(): void {
    while (this.underWay < this.maxUnderWay) {
      const line = this.nextLine();
      const next = line?.waiting.shift();
      if (line === undefined || next === undefined) return;
      this.waiting -= 1;
      this.underWay += 1;
      line.isUnderWay = true;
      if (next.bytes > largeBytes) this.isLargeUnderWay = true;
      next.begin();
    }
  }

  private nextLine(): Line | undefined {
    let least: Line | undefined;
    for (const line of this.lines.values()) {
      const [first] = line.waiting;
      if (first === undefined || line.isUnderWay) continue;
      if (first.bytes > largeBytes && this.isLargeUnderWay) continue;
      if (least === undefined || line.servedBytes < least.servedBytes) least = line;
    }
    return least;
  }
}

const tooManyWaiting = () =>
  new RouterError('service_unavailable', 'The service is busy with large requests; please retry.', {
    internal: 'too many bodies wait to be checked',
  });
