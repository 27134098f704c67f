import type { Pool } from 'pg';
import { PostgresListener } from './postgres-listener.js';
import { RunSignals } from './run-signals.js';

const CHANNEL = 'mr_run';

/**
 * LISTEN and NOTIFY over one session, which the first subscriber opens. One channel serves all runs, with the run id
 * as payload: subscribing costs nothing then.
 */
export class PostgresSignals extends RunSignals {
  private listener: PostgresListener | undefined;

  constructor(
    private readonly url: string,
    private readonly producer: Pool,
    private readonly succeeds: (work: Promise<unknown>, what: string) => Promise<boolean>,
    private readonly lost: (error: unknown) => void,
  ) {
    super();
  }

  async publish(runId: string): Promise<void> {
    const notified = this.producer.query('SELECT pg_notify($1, $2)', [CHANNEL, runId]);
    await this.succeeds(notified, 'a signal was not sent');
  }

  async close(): Promise<void> {
    await this.listener?.close();
  }

  protected added(): void {
    this.listener ??= new PostgresListener({
      url: this.url,
      channel: CHANNEL,
      heard: (runId) => this.wake(runId),
      connected: () => this.wakeAll(),
      lost: this.lost,
    });
  }

  protected removed(): void {}
}
