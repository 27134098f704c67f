/** The part of a pino logger that the queues use. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

const QUIET_MS = 10_000;
const RUN_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/**
 * One line when a server is lost and one when it is back, however many connections notice; other errors
 * at most once in ten seconds per text.
 */
export class OutageLog {
  private away = false;
  private readonly lastLoggedAtMs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly server: string,
    // A machine's clock that is set back would silence it for as long.
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  lost(error?: unknown): void {
    if (this.away) return;
    this.away = true;
    this.log.warn(
      { server: this.server, err: error },
      `${this.server} is away; runs are left to the reconciler`,
    );
  }

  back(): void {
    if (!this.away) return;
    this.away = false;
    this.log.info({ server: this.server }, `${this.server} is back`);
  }

  /** An error that is no news while the server is away. */
  trouble(error: unknown, message: string): void {
    if (this.away) return;
    const now = this.nowMs();
    const text = `${message}: ${error instanceof Error ? error.message : String(error)}`.replace(RUN_ID, '…');
    if (now - (this.lastLoggedAtMs.get(text) ?? -QUIET_MS) < QUIET_MS) return;
    if (this.lastLoggedAtMs.size > 100) this.lastLoggedAtMs.clear();
    this.lastLoggedAtMs.set(text, now);
    this.log.warn({ server: this.server, err: error }, message);
  }
}
