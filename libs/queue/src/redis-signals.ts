import { runChannel } from './lane.js';
import type { OutageLog } from './outage-log.js';
import { isReady, type RedisClient } from './redis-clients.js';
import { Waiters } from './waiters.js';

/**
 * Wake-ups over one subscriber connection. It is opened by the first waiter: a process that only
 * announces needs none.
 */
export class RedisSignals {
  private readonly waiters = new Waiters();
  private subscriber: RedisClient | undefined;
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly connect: () => RedisClient,
    private readonly outage: OutageLog,
  ) {}

  listen(runId: string, wake: () => void): () => void {
    const subscriber = (this.subscriber ??= this.open());
    // While the connection is away nothing is sent: on return it subscribes to everything at once.
    if (this.waiters.add(runId, wake) && isReady(subscriber)) void this.subscribe([runId]);
    return () => {
      if (!this.waiters.remove(runId, wake) || !isReady(subscriber)) return;
      subscriber.unsubscribe(runChannel(runId)).catch(() => {});
    };
  }

  close(): void {
    clearInterval(this.heartbeat);
    this.subscriber?.disconnect();
  }

  private open(): RedisClient {
    const subscriber = this.connect();
    subscriber.on('error', (error) => this.outage.trouble(error, 'subscriber'));
    subscriber.on('message', (channel: string) => this.waiters.wake(channel.slice(runChannel('').length)));
    subscriber.on('ready', () => void this.resume());
    // A subscriber sends nothing by itself, so only a ping shows that the other end is gone.
    this.heartbeat = setInterval(() => {
      if (isReady(subscriber)) subscriber.ping().catch(() => {});
    }, 5_000);
    this.heartbeat.unref();
    return subscriber;
  }

  /** Whoever looks before the subscription stands may miss what is announced in between. */
  private async resume(): Promise<void> {
    await this.subscribe(this.waiters.runIds());
    this.waiters.wakeAll();
  }

  private async subscribe(runIds: string[]): Promise<void> {
    if (runIds.length === 0) return;
    // A failed subscription is lost with its connection and made again on the next one.
    await this.subscriber?.subscribe(...runIds.map(runChannel)).catch(() => {});
  }
}
