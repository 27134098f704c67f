import type { Log } from './log.js';

const quietMs = 10_000;
const minuteMs = 60_000;
/** An answer that follows a failure by less than this does not prove that the server is back. */
const settleMs = 2_000;
const runIds = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

interface Outage {
  sinceMs: number;
  failures: number;
  lastFailedAtMs: number;
  lastLoggedAtMs: number;
}

interface OutageLogOptions {
  /** The end of the line about the start of an outage. */
  consequence?: string;
  /** Minimum time between two lines about an outage that continues. */
  everyMs?: number;
  /** Monotonic, because a wall clock that is set back would silence the log for that long. */
  nowMs?: () => number;
}

/**
 * Writes one line when a server is lost, one a minute while it is unreachable, and one when it is back, however
 * many connections notice. None has a stack, because all operations fail for the same reason. Other errors are
 * written at most once in ten seconds per text.
 */
export class OutageLog {
  private outage: Outage | undefined;
  private readonly lastLoggedAtMs = new Map<string, number>();
  private readonly consequence: string;
  private readonly everyMs: number;
  private readonly nowMs: () => number;

  constructor(
    private readonly log: Pick<Log, 'info' | 'warn'>,
    private readonly server: string,
    {
      consequence = 'work waits',
      everyMs = minuteMs,
      nowMs = () => performance.now(),
    }: OutageLogOptions = {},
  ) {
    this.consequence = consequence;
    this.everyMs = everyMs;
    this.nowMs = nowMs;
  }

  get isAway(): boolean {
    return this.outage !== undefined;
  }

  /** Counts a failure that shows that the server is unreachable. */
  lost(error?: unknown): void {
    const { server } = this;
    const nowMs = this.nowMs();
    const { outage } = this;
    if (outage === undefined) {
      this.outage = { sinceMs: nowMs, failures: 1, lastFailedAtMs: nowMs, lastLoggedAtMs: nowMs };
      this.log.warn({ server, reason: reasonOf(error) }, `${server} is unreachable, ${this.consequence}`);
      return;
    }
    outage.failures += 1;
    outage.lastFailedAtMs = nowMs;
    if (nowMs - outage.lastLoggedAtMs < this.everyMs) return;
    outage.lastLoggedAtMs = nowMs;
    this.log.warn({ ...this.facts(outage), reason: reasonOf(error) }, `${server} is still unreachable`);
  }

  /** Ends the outage. Call it when the only connection to the server is established again. */
  back(): void {
    const { outage } = this;
    if (outage === undefined) return;
    this.outage = undefined;
    this.log.info(this.facts(outage), `${this.server} is back`);
  }

  /** Ends the outage if nothing has failed for two seconds. Call it when one of several connections gets an answer. */
  answered(): void {
    if (this.outage && this.nowMs() - this.outage.lastFailedAtMs >= settleMs) this.back();
  }

  /** Logs nothing while the server is lost, because that was logged already. */
  trouble(error: unknown, message: string): void {
    if (this.outage) return;
    const nowMs = this.nowMs();
    const text = `${message}: ${error instanceof Error ? error.message : String(error)}`.replace(runIds, '…');
    if (nowMs - (this.lastLoggedAtMs.get(text) ?? -quietMs) < quietMs) return;
    if (this.lastLoggedAtMs.size > 100) this.lastLoggedAtMs.clear();
    this.lastLoggedAtMs.set(text, nowMs);
    this.log.warn({ server: this.server, err: error }, message);
  }

  private facts({ sinceMs, failures }: Outage): { server: string; away_s: number; failures: number } {
    return { server: this.server, away_s: Math.round((this.nowMs() - sinceMs) / 1000), failures };
  }
}

/** The message of an error, or its code: Node's error about several addresses has no message. */
export function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return error.message || ('code' in error ? String(error.code) : error.name);
}
