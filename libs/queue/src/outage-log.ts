import type { Log } from '#observability';

const QUIET_MS = 10_000;
const RUN_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Writes one line when a server is lost and one when it is back, however many connections notice. Other
 * errors are written at most once in ten seconds per text.
 */
export class OutageLog {
  private away = false;
  private readonly lastLoggedAtMs = new Map<string, number>();

  constructor(
    private readonly log: Log,
    private readonly server: string,
    // Monotonic, because a wall clock that is set back would silence the log for that long.
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  lost(error?: unknown): void {
    if (this.away) return;
    this.away = true;
    this.log.warn(
      { server: this.server, err: error },
      `${this.server} is unreachable; runs wait in their rows until it is back`,
    );
  }

  back(): void {
    if (!this.away) return;
    this.away = false;
    this.log.info({ server: this.server }, `${this.server} is back`);
  }

  /** Logs nothing while the server is lost, because that was logged already. */
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
