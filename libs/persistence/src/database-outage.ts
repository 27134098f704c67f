import { LOG, type Log, OutageLog, reasonOf } from '#observability';
import { Inject, Injectable } from '@nestjs/common';
import { isUnavailable, isUnreachable } from './sql-errors.js';

/**
 * The outages of the database, as this process's statements find them, in the log: one line when an outage
 * starts, one a minute while it lasts, and one when it ends. Work that is retried logs its failures here, so
 * that they do not add a line each.
 */
@Injectable()
export class DatabaseOutage {
  private readonly outage: OutageLog;

  constructor(@Inject(LOG) private readonly log: Pick<Log, 'debug' | 'info' | 'warn'>) {
    this.outage = new OutageLog(log, 'the database', {
      consequence: 'runs wait and calls that need it answer 503',
    });
  }

  /** Called with the error of each failed statement. */
  failed(error: unknown): void {
    if (isUnreachable(error)) this.outage.lost(error);
  }

  /** Called after each statement that succeeded. */
  answered(): void {
    this.outage.answered();
  }

  /** Logs a failure of work that is retried. During an outage it is a debug line without a stack. */
  warn({ error, ...facts }: { error: unknown; [fact: string]: unknown }, message: string): void {
    // TypeORM's own statements are not reported to `failed`.
    if (!this.outage.isAway) this.failed(error);
    if (this.outage.isAway && (isUnavailable(error) || isUnreachable(error)))
      this.log.debug({ ...facts, reason: reasonOf(error) }, message);
    else this.log.warn({ ...facts, error }, message);
  }
}
