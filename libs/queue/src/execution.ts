/** Why a handler's signal was aborted: the job belongs to somebody else now, or this process is leaving. */
type Abortion = 'lock lost' | 'closing';

export interface Execution {
  readonly jobId: string;
  readonly signal: AbortSignal;
  readonly abortion: Abortion | null;
}

interface Entry extends Execution {
  abortion: Abortion | null;
  lockedUntilMs: number;
  controller: AbortController;
}

/**
 * The handlers that run in one lane of this process, with the time until which each one owns its job.
 * A worker that cannot reach the server learns nothing about its locks, so ownership ends by our own
 * clock too: no renewal within the lock's duration means that somebody else may have the job.
 */
export class Executions {
  private readonly byJob = new Map<string, Entry>();
  private readonly all = new Set<Entry>();
  private idleWaiters: (() => void)[] = [];

  constructor(
    private readonly lockMs: number,
    private readonly nowMs: () => number = Date.now,
  ) {}

  get size(): number {
    return this.all.size;
  }

  start(jobId: string): Execution {
    // A second delivery of the same job in this process proves that the first one's lock is gone.
    this.lost([jobId]);
    const controller = new AbortController();
    const entry: Entry = {
      jobId,
      controller,
      signal: controller.signal,
      abortion: null,
      lockedUntilMs: this.nowMs() + this.lockMs,
    };
    this.byJob.set(jobId, entry);
    this.all.add(entry);
    return entry;
  }

  end(execution: Execution): void {
    const entry = execution as Entry;
    this.all.delete(entry);
    if (this.byJob.get(entry.jobId) === entry) this.byJob.delete(entry.jobId);
    if (this.all.size > 0) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  renewed(jobIds: readonly string[]): void {
    const until = this.nowMs() + this.lockMs;
    for (const jobId of jobIds) {
      const entry = this.byJob.get(jobId);
      if (entry) entry.lockedUntilMs = until;
    }
  }

  lost(jobIds: readonly string[]): void {
    for (const jobId of jobIds) {
      const entry = this.byJob.get(jobId);
      if (entry) abort(entry, 'lock lost');
    }
  }

  /** Aborts what has not renewed its lock in time; to be called regularly. */
  expire(): void {
    const now = this.nowMs();
    for (const entry of this.all) if (entry.lockedUntilMs <= now) abort(entry, 'lock lost');
  }

  abortAll(): void {
    for (const entry of this.all) abort(entry, 'closing');
  }

  idle(): Promise<void> {
    if (this.all.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }
}

function abort(entry: Entry, abortion: Abortion): void {
  if (entry.abortion) return;
  entry.abortion = abortion;
  entry.controller.abort(new Error(abortion));
}
