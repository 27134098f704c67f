import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { OutageLog } from '#observability';
import { isReady, type RedisClient } from './redis-connections.js';
import { RunSignals } from './run-signals.js';
import { Gathered } from './wake-ups.js';

const heartbeatMs = 5_000;
const channelPrefix = 'mr:news:';

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
  ) {
    super();
  }

  async publish(runId: string, announcement?: Buffer): Promise<void> {
    if (!isReady(this.producer)) return;
    const [secret] = this.secrets;
    const sealed = announcement && secret !== undefined ? seal(secret, runId, announcement) : '';
    this.unsent.push([channelPrefix + runId, sealed]);
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
      this.subscriber.unsubscribe(...runIds.map((runId) => channelPrefix + runId)).catch(() => {});
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
      this.hear(channel.toString('latin1', channelPrefix.length), sealed),
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
    const announcement = unseal(this.secrets, runId, sealed);
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
    await this.subscriber?.subscribe(...runIds.map((runId) => channelPrefix + runId)).catch(() => {});
  }
}

// Format of a sealed signal: a version byte, the nonce, the tag and the ciphertext.
const algorithm = 'aes-256-gcm';
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The result of HKDF's extract step (RFC 5869) by secret. It is the same for all runs. */
const extracted = new Map<string, Buffer>();

/** The key of a run by HKDF-SHA256, so that an announcement cannot be opened for another run. */
function keyOf(secret: string, runId: string): Buffer {
  const known = extracted.get(secret) ?? hmac(Buffer.alloc(32), secret);
  extracted.set(secret, known);
  return hmac(known, `signal of run ${runId}\u0001`);
}

/** Encrypts and authenticates an announcement, so that Redis and its users can neither read nor forge one. */
export function seal(secret: string, runId: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret, runId), nonce, { authTagLength: tagBytes });
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed]);
}

/** Returns the announcement, or null unless it was sealed for this run with one of the secrets. */
export function unseal(secrets: readonly string[], runId: string, sealed: Buffer): Buffer | null {
  if (sealed.length < headBytes || sealed[0] !== version) return null;
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const tag = sealed.subarray(1 + nonceBytes, headBytes);
  for (const secret of secrets) {
    const decipher = createDecipheriv(algorithm, keyOf(secret, runId), nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    const plain = decipher.update(sealed.subarray(headBytes));
    try {
      return Buffer.concat([plain, decipher.final()]);
    } catch {
      // Not sealed with this secret.
    }
  }
  return null;
}
