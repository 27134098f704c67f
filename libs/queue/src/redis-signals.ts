import type { OutageLog } from './outage-log.js';
import { isReady, type RedisClient } from './redis-connections.js';
import { RunSignals } from './run-signals.js';
import { seal, unseal } from './sealed-news.js';

const HEARTBEAT_MS = 5_000;
const CHANNEL = 'mr:news:';

/**
 * Redis pub/sub, one channel a run, on one shared connection that the first subscriber opens. What a signal carries is
 * sealed, and one that does not open is ignored; an empty signal only makes the row be read.
 */
export class RedisSignals extends RunSignals {
  private subscriber: RedisClient | undefined;
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly producer: RedisClient,
    private readonly connect: () => RedisClient,
    private readonly outage: OutageLog,
    private readonly secrets: readonly string[],
  ) {
    super();
  }

  async publish(runId: string, news?: Buffer): Promise<void> {
    if (!isReady(this.producer)) return;
    const [secret] = this.secrets;
    const sealed = news && secret !== undefined ? seal(secret, runId, news) : '';
    await this.producer.publish(CHANNEL + runId, sealed).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    this.subscriber?.disconnect();
  }

  protected added(runId: string): void {
    this.subscriber ??= this.open();
    // While the connection is away nothing is sent: on return it subscribes to everything at once.
    if (isReady(this.subscriber)) void this.subscribeTo([runId]);
  }

  protected removed(runIds: string[]): void {
    if (this.subscriber && isReady(this.subscriber)) {
      this.subscriber.unsubscribe(...runIds.map((runId) => CHANNEL + runId)).catch(() => {});
    }
  }

  private open(): RedisClient {
    const subscriber = this.connect();
    subscriber.on('error', (error) => this.outage.trouble(error, 'subscriber'));
    subscriber.on('messageBuffer', (channel: Buffer, sealed: Buffer) =>
      this.hear(channel.toString('latin1', CHANNEL.length), sealed),
    );
    subscriber.on('ready', () => void this.resume());
    // A subscriber sends nothing by itself, so only a ping shows that the other end is gone.
    this.heartbeat = setInterval(() => {
      if (isReady(subscriber)) subscriber.ping().catch(() => {});
    }, HEARTBEAT_MS);
    this.heartbeat.unref();
    return subscriber;
  }

  private hear(runId: string, sealed: Buffer): void {
    if (sealed.length === 0) return this.wake(runId);
    const news = unseal(this.secrets, runId, sealed);
    if (news) this.wake(runId, news);
    else this.outage.trouble(new Error('a signal is not sealed with our secret'), 'subscriber');
  }

  /** Whoever looks before the subscription stands may miss what is published in between. */
  private async resume(): Promise<void> {
    await this.subscribeTo(this.runIds);
    this.wakeAll();
  }

  private async subscribeTo(runIds: string[]): Promise<void> {
    if (runIds.length === 0) return;
    // A failed subscription is lost with its connection and made again on the next one.
    await this.subscriber?.subscribe(...runIds.map((runId) => CHANNEL + runId)).catch(() => {});
  }
}
