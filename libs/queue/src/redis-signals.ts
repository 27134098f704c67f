import { setImmediate as turn } from 'node:timers/promises';
import type { OutageLog } from '#observability';
import { seal, unseal } from '#schemas';
import { isReady, type RedisClient } from './redis-connections.js';
import { RunSignals } from './run-signals.js';
import { Gathered } from './wake-ups.js';

const heartbeatMs = 5_000;
/** An announcement cannot be opened for another run. */
const purposeOf = (runId: string): string => `signal of run ${runId}`;

/**
 * Redis pub/sub with one channel per run, on one shared connection that the first subscriber opens.
 * Announcements are sealed, and one that cannot be opened is ignored. An empty signal makes the subscriber
 * read the row.
 */
export class RedisSignals extends RunSignals {
  private subscriber: RedisClient | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private readonly subscriptions = new Gathered((runIds) => this.subscribeTo(runIds));
  private readonly unsent: [channel: string, sealed: Buffer | string][] = [];
  private sending: Promise<void> | undefined;

  constructor(
    private readonly producer: RedisClient,
    private readonly connect: () => RedisClient,
    private readonly outage: OutageLog,
    private readonly secrets: readonly string[],
    private readonly channelPrefix = 'mr:news:',
  ) {
    super();
  }

  async publish(runId: string, announcement?: Buffer): Promise<void> {
    if (!isReady(this.producer)) return;
    const [secret] = this.secrets;
    const sealed = announcement && secret !== undefined ? seal(secret, purposeOf(runId), announcement) : '';
    this.unsent.push([this.channelPrefix + runId, sealed]);
    this.sending ??= turn().then(() => this.send());
    await this.sending;
  }

  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    this.subscriber?.disconnect();
  }

  protected added(runId: string): void {
    this.subscriber ??= this.open();
    // While the connection is down nothing is sent; `resume` subscribes to all runs when it is back.
    if (isReady(this.subscriber)) this.subscriptions.add([runId]);
  }

  protected removed(runIds: string[]): void {
    if (this.subscriber && isReady(this.subscriber)) {
      this.subscriber.unsubscribe(...runIds.map((runId) => this.channelPrefix + runId)).catch(() => {});
    }
  }

  /** Announces the runs that end in one statement in one write to the socket. */
  private async send(): Promise<void> {
    this.sending = undefined;
    const unsent = this.unsent.splice(0);
    const [first] = unsent;
    if (first === undefined) return;
    // A pipeline with one command costs twice as much as the command.
    const published =
      unsent.length === 1
        ? this.producer.publish(...first)
        : unsent.reduce((pipeline, each) => pipeline.publish(...each), this.producer.pipeline()).exec();
    await published.catch(() => {});
  }

  private open(): RedisClient {
    const subscriber = this.connect();
    subscriber.on('error', (error) => this.outage.trouble(error, 'subscriber'));
    subscriber.on('messageBuffer', (channel: Buffer, sealed: Buffer) =>
      this.hear(channel.toString('latin1', this.channelPrefix.length), sealed),
    );
    subscriber.on('ready', () => void this.resume());
    // A subscriber sends nothing by itself, so only a ping reveals a dead peer.
    this.heartbeat = setInterval(() => {
      if (isReady(subscriber)) subscriber.ping().catch(() => {});
    }, heartbeatMs);
    this.heartbeat.unref();
    return subscriber;
  }

  private hear(runId: string, sealed: Buffer): void {
    if (sealed.length === 0) return this.wake(runId);
    const announcement = unseal(this.secrets, purposeOf(runId), sealed);
    if (announcement) this.wake(runId, announcement);
    else this.outage.trouble(new Error('ignored a signal that is not sealed with our secret'), 'subscriber');
  }

  /** Wakes all subscribers, which may have missed signals before the subscription was made. */
  private async resume(): Promise<void> {
    await this.subscribeTo(this.runIds);
    this.wakeAll();
  }

  private async subscribeTo(runIds: string[]): Promise<void> {
    if (runIds.length === 0) return;
    // A failed subscription is lost with its connection and made again on the next one.
    await this.subscriber?.subscribe(...runIds.map((runId) => this.channelPrefix + runId)).catch(() => {});
  }
}
