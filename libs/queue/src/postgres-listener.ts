import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { Session } from './postgres-connections.js';
import { reconnectDelayMs } from './redis-connections.js';

const HEARTBEAT_MS = 5_000;
const MAX_SILENCE_MS = 15_000;

interface Listening {
  url: string;
  channel: string;
  /** The name of the session in the database. */
  name?: string;
  heard: (payload: string) => void;
  /** Called whenever a session is established. Earlier notifications may have been lost. */
  connected: () => void;
  lost: (error: unknown) => void;
}

/** Listens on a channel over a dedicated session, which is replaced when it is lost. */
export class PostgresListener {
  private readonly closing = new AbortController();
  private readonly ended: Promise<void>;

  constructor(private readonly listening: Listening) {
    this.ended = this.listen();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.ended;
  }

  private async listen(): Promise<void> {
    const { signal } = this.closing;
    const { url, channel, name = `model-router ${channel}`, heard, connected, lost } = this.listening;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const session = new Session(url, name);
      try {
        await session.connect();
        session.on('notification', ({ payload }) => heard(payload ?? ''));
        await session.query(`LISTEN ${channel}`);
        attempt = 0;
        connected();
        await this.untilLost(session);
      } catch (error) {
        if (!signal.aborted) lost(error);
      }
      await session.shut();
      if (!signal.aborted) await sleep(reconnectDelayMs(attempt + 1), undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Rejects when the session is lost or closed. Sends a query now and then, because a listener sends nothing
   * by itself and would not notice a dead peer. The answer may be late: replacing the session of a busy
   * server would lose the signals that it still delivers.
   */
  private async untilLost(session: Session): Promise<never> {
    const ended = once(session, 'end', { signal: this.closing.signal }).then(() => {
      throw new Error('the listening session has ended');
    });
    for (;;) {
      const pause = new AbortController();
      const beat = sleep(HEARTBEAT_MS, undefined, { signal: pause.signal, ref: false }).then(() =>
        session.query({ text: 'SELECT 1', query_timeout: MAX_SILENCE_MS } as QueryConfig),
      );
      await Promise.race([ended, beat]).finally(() => pause.abort());
    }
  }
}
