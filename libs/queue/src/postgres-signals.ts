import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { reconnectDelayMs } from './backoff.js';
import { endSession, session } from './postgres-connections.js';
import { Waiters } from './waiters.js';

export const RUN_CHANNEL = 'mr_run';
const HEARTBEAT_MS = 5_000;

/**
 * Wake-ups over one LISTEN session, which the first waiter opens. One channel serves all runs, with the
 * run id as payload: subscribing costs nothing then.
 */
export class PostgresSignals {
  private readonly waiters = new Waiters();
  private readonly closing = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly url: string,
    private readonly lost: (error: unknown) => void,
  ) {}

  listen(runId: string, wake: () => void): () => void {
    this.waiters.add(runId, wake);
    this.running ??= this.run();
    return () => void this.waiters.remove(runId, wake);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const client = session(this.url, 'model-router signals');
      try {
        await client.connect();
        client.on('notification', ({ payload }) => this.waiters.wake(payload ?? ''));
        await client.query(`LISTEN ${RUN_CHANNEL}`);
        attempt = 0;
        this.waiters.wakeAll();
        await this.untilLost(client);
      } catch (error) {
        this.lost(error);
      }
      await endSession(client);
      if (!signal.aborted) await sleep(reconnectDelayMs(attempt + 1), undefined, { signal }).catch(() => {});
    }
  }

  /** Asks for a sign of life now and then: a listener sends nothing and would not notice a dead peer. */
  private async untilLost(client: pg.Client): Promise<void> {
    const { signal } = this.closing;
    const ended = new Promise<'ended'>((resolve) => client.once('end', () => resolve('ended')));
    const left = new Promise<'left'>((resolve) => signal.addEventListener('abort', () => resolve('left')));
    for (;;) {
      const pause = new AbortController();
      const beat = sleep(HEARTBEAT_MS, 'beat' as const, { signal: pause.signal, ref: false });
      const event = await Promise.race([ended, left, beat]).finally(() => pause.abort());
      beat.catch(() => {});
      if (event === 'left') return;
      if (event === 'ended') throw new Error('the listening session has ended');
      await client.query({ text: 'SELECT 1', query_timeout: 2_000 } as pg.QueryConfig);
    }
  }
}
