import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, QueryConfig } from 'pg';
import { Session } from './postgres-connections.js';
import { reconnectDelayMs } from './redis-connections.js';
import { RunSignals } from './run-signals.js';

const CHANNEL = 'mr_run';
const HEARTBEAT_MS = 5_000;
const MAX_SILENCE_MS = 15_000;

/**
 * LISTEN and NOTIFY over one session, which the first subscriber opens. One channel serves all runs, with the run id
 * as payload: subscribing costs nothing then.
 */
export class PostgresSignals extends RunSignals {
  private readonly closing = new AbortController();
  private listening: Promise<void> | undefined;

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
    this.closing.abort();
    await this.listening;
  }

  protected added(): void {
    this.listening ??= this.listen();
  }

  protected removed(): void {}

  private async listen(): Promise<void> {
    const { signal } = this.closing;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const session = new Session(this.url, 'model-router signals');
      try {
        await session.connect();
        session.on('notification', ({ payload }) => this.wake(payload ?? ''));
        await session.query(`LISTEN ${CHANNEL}`);
        attempt = 0;
        this.wakeAll();
        await this.untilLost(session);
      } catch (error) {
        this.lost(error);
      }
      await session.shut();
      if (!signal.aborted) await sleep(reconnectDelayMs(attempt + 1), undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Asks for a sign of life now and then: a listener sends nothing and would not notice a dead peer. Its answer may be
   * late: a new session would miss signals, which a busy server delivers in the end.
   */
  private async untilLost(session: Session): Promise<void> {
    const { signal } = this.closing;
    const ended = new Promise<never>((_resolve, reject) =>
      session.once('end', () => reject(new Error('the listening session has ended'))),
    );
    const left = new Promise<'left'>((resolve) => signal.addEventListener('abort', () => resolve('left')));
    for (;;) {
      const pause = new AbortController();
      const beat = sleep(HEARTBEAT_MS, undefined, { signal: pause.signal, ref: false }).then(() =>
        session.query({ text: 'SELECT 1', query_timeout: MAX_SILENCE_MS } as QueryConfig),
      );
      if ((await Promise.race([ended, left, beat]).finally(() => pause.abort())) === 'left') return;
    }
  }
}
