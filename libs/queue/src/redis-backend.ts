import type { Log, Metrics } from '#observability';
import { createRedisBackend } from 'bullmq';
import { QueueBackend, type WorkerConnection } from './queue-backend.js';
import {
  disconnect,
  isReady,
  producerConnection,
  type RedisClient,
  workerConnection,
} from './redis-connections.js';
import { RedisSignals } from './redis-signals.js';
import { RedisWakeUps } from './redis-wake-ups.js';
import type { QueueSettings } from './settings.js';

export class RedisBackend extends QueueBackend {
  readonly kind = 'redis';
  readonly signals: RedisSignals;
  readonly wakeUps: RedisWakeUps;
  protected readonly factory = createRedisBackend as never;
  protected readonly producer: RedisClient;

  constructor(
    settings: QueueSettings,
    private readonly url: string,
    log: Log,
    metrics: Metrics,
  ) {
    super(settings, log, metrics, 'redis');
    this.producer = producerConnection(settings, url);
    this.producer.on('error', (error) => this.outage.lost(error));
    this.producer.on('close', () => {
      if (!this.closing) this.outage.lost();
    });
    this.producer.on('ready', () => this.outage.back());
    this.signals = new RedisSignals(
      this.producer,
      () => producerConnection(settings, url),
      this.outage,
      settings.SIGNING_SECRET,
    );
    this.wakeUps = new RedisWakeUps(this.producer, () =>
      workerConnection(settings, url, 'model-router wake-ups'),
    );
  }

  get isUp(): boolean {
    return isReady(this.producer) && !this.closing;
  }

  connectWorker(queue: string): WorkerConnection {
    // BullMQ duplicates it for its blocking command.
    const client = workerConnection(this.settings, this.url, `model-router ${queue}`);
    client.on('error', () => {});
    return { client, isConnected: () => isReady(client), end: async () => disconnect(client) };
  }

  /** A server that is out of memory, a replica after a failover or a full disk answers a ping: only a write shows it. */
  protected async write(): Promise<void> {
    await this.producer.set('mr:writable', '', 'PX', 1_000);
  }

  protected async shut(): Promise<void> {
    await this.signals.close();
    disconnect(this.producer);
  }
}
