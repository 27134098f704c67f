import type { Log } from '#observability';
import type { Database } from './database.js';

const systemNow = Date.now.bind(Date);
const measureEveryMs = 30_000;
/** A difference that harms nothing; the clocks of machines that keep time are closer. */
const toleratedMs = 100;
/** An answer that took longer says too little about the moment it was given. */
const usefulWithinMs = 1000;
/** A first question pays for the connection too. */
const firstAttempts = 5;

/**
 * Makes `Date.now` tell the database's time in a process whose own clock is off. Our own rows are written by
 * the database's clock anyway; the queue's are not. Its library compares the `Date.now` of all its users and
 * takes no other clock: a worker that is ten minutes ahead finds every delayed job due, and puts it off for
 * ten minutes more than it means to.
 */
export class DatabaseClock {
  private offsetMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** Resolves after the first useful measurement, or when there was none in a few attempts. */
  async start(): Promise<void> {
    Date.now = () => systemNow() + this.offsetMs;
    for (let attempt = 1; attempt <= firstAttempts && !(await this.measure()); attempt += 1);
    this.timer = setInterval(() => void this.measure(), measureEveryMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    Date.now = systemNow;
  }

  private async measure(): Promise<boolean> {
    try {
      const askedAtMs = systemNow();
      const [row] = await this.database.write<{ now: number }>(
        // Not router_now(): the queue's times are real ones, whatever clock a test gives to our rows.
        { name: 'clock', text: 'SELECT extract(epoch FROM clock_timestamp())::float * 1000 AS now' },
        [],
      );
      const answeredAtMs = systemNow();
      if (!row || answeredAtMs - askedAtMs > usefulWithinMs) return false;
      this.follow(Math.round(row.now - (askedAtMs + answeredAtMs) / 2));
      return true;
    } catch (error) {
      this.log.warn({ error }, 'the database’s clock could not be read');
      return false;
    }
  }

  private follow(offsetMs: number): void {
    const followed = Math.abs(offsetMs) > toleratedMs ? offsetMs : 0;
    if (Math.abs(followed - this.offsetMs) > toleratedMs) {
      this.log.warn({ offset_ms: offsetMs }, 'the clock of this machine is off: the database’s time is used');
    }
    this.offsetMs = followed;
  }
}
