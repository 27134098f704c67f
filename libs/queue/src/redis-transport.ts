import type { Metrics } from '#observability';
import { Queue, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import { settlesWithin } from './bounded.js';
import { deliverInChunks, laneCounts } from './delivering.js';
import { keyPrefix, laneName, runChannel } from './lane.js';
import { BullWorker, LaneWorker } from './lane-worker.js';
import { OutageLog } from './outage-log.js';
import type { Consumer, Consumption, Delivery, LaneCounts, LaneKind, Log, Transport } from './port.js';
import { disconnect, impatientClient, isReady, patientClient, type RedisClient } from './redis-clients.js';
import { RedisSignals } from './redis-signals.js';
import type { QueueSettings } from './settings.js';

interface Lane {
  queue: Queue;
  lane: LaneKind;
  provider: string | null;
}

/** Lanes on Redis: one queue for each provider's dispatches, one for polls, one for assets. */
export class RedisTransport implements Transport {
  readonly kind = 'redis';
  private readonly producer: RedisClient;
  private readonly signals: RedisSignals;
  private readonly outage: OutageLog;
  private readonly lanes = new Map<string, Lane>();
  private readonly workers = new Map<string, LaneWorker>();
  private readonly served = new Map<string, Consumption>();
  private closing: Promise<void> | undefined;

  constructor(
    private readonly settings: QueueSettings,
    private readonly url: string,
    private readonly log: Log,
    private readonly metrics?: Metrics,
  ) {
    this.outage = new OutageLog(log, 'redis');
    this.producer = impatientClient(settings, url);
    this.producer.on('error', (error) => this.outage.lost(error));
    this.producer.on('close', () => {
      if (!this.closing) this.outage.lost();
    });
    this.producer.on('ready', () => this.outage.back());
    this.signals = new RedisSignals(() => impatientClient(settings, url), this.outage);
  }

  async deliver(items: readonly Delivery[]): Promise<boolean[]> {
    return deliverInChunks(items, this.settings.QUEUE_COMMAND_TIMEOUT_MS, async (chunk) => {
      if (!isReady(this.producer) || this.closing) return chunk.map(() => false);
      return Promise.all(
        chunk.map((item) =>
          this.queue(item.lane, item.provider)
            .add(item.provider, {}, { jobId: item.runId, delay: item.afterMs })
            .then(
              () => true,
              (error: unknown) => {
                this.outage.trouble(error, 'a delivery was not accepted');
                return false;
              },
            ),
        ),
      );
    });
  }

  async hasten(lane: LaneKind, provider: string, runId: string): Promise<void> {
    if (!isReady(this.producer)) return;
    // It fails when the job is not delayed: then there is nothing to bring forward.
    await this.queue(lane, provider)
      .getBackend()
      .changeDelay(runId, 0)
      .catch(() => {});
  }

  consume(consumption: Consumption): Consumer {
    const name = laneName(consumption.lane, consumption.provider);
    const present = this.workers.get(name);
    if (present && !present.stopped) return present.open(consumption);
    this.served.set(name, consumption);
    const worker = new LaneWorker({
      name,
      lane: consumption.lane,
      settings: this.settings,
      log: this.log,
      metrics: this.metrics,
      outage: this.outage,
      shared: false,
      ready: Promise.resolve(),
      link: (process, options) => this.link(name, process, options),
    });
    this.workers.set(name, worker);
    return worker.open(consumption);
  }

  async announce(runId: string): Promise<void> {
    if (!isReady(this.producer)) return;
    await this.producer.publish(runChannel(runId), '').catch(() => 0);
  }

  listen(runId: string, wake: () => void): () => void {
    return this.signals.listen(runId, wake);
  }

  async counts(): Promise<LaneCounts[]> {
    this.openServed();
    return isReady(this.producer) ? laneCounts([...this.lanes.values()]) : [];
  }

  queues(): readonly Queue[] {
    this.openServed();
    return [...this.lanes.values()].map(({ queue }) => queue);
  }

  async healthy(): Promise<boolean> {
    if (!isReady(this.producer)) return false;
    // A server that is out of memory, a replica after a failover or a full disk answers a ping: only a write tells.
    return this.producer.set('mr:writable', '', 'PX', 1_000).then(
      () => true,
      () => false,
    );
  }

  close(): Promise<void> {
    this.closing ??= this.shut();
    return this.closing;
  }

  private async shut(): Promise<void> {
    await Promise.all([...this.workers.values()].map((worker) => worker.stop(0)));
    const queues = [...this.lanes.values()].map(({ queue }) => queue.close());
    await settlesWithin(Promise.allSettled(queues), 1_000);
    this.signals.close();
    this.producer.disconnect();
  }

  private openServed(): void {
    if (!isReady(this.producer) || this.closing) return;
    for (const { lane, provider } of this.served.values()) this.queue(lane, provider);
  }

  /** Only called while the producer is ready: a queue whose first contact fails would stay broken. */
  private queue(lane: LaneKind, provider: string): Queue {
    const name = laneName(lane, provider);
    const present = this.lanes.get(name);
    if (present) return present.queue;
    const queue = new Queue(name, {
      connection: this.producer,
      prefix: keyPrefix(name),
      skipVersionCheck: true,
      // Nobody reads the event stream.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', (error) => this.outage.trouble(error, `queue of ${name}`));
    this.lanes.set(name, { queue, lane, provider: lane === 'dispatch' ? provider : null });
    return queue;
  }

  private link(
    name: string,
    process: ConstructorParameters<typeof BullWorker>[1],
    options: object,
  ): ReturnType<ConstructorParameters<typeof LaneWorker>[0]['link']> {
    // Both clients are ours, so that a close need not wait for a server that does not answer.
    const clients = [patientClient(this.settings, this.url), patientClient(this.settings, this.url)] as const;
    for (const client of clients) client.on('error', () => {});
    const [main, blocking] = clients;
    const prefix = keyPrefix(name);
    const worker = new BullWorker(name, process, { ...options, connection: main, prefix }, (_name, opts) => {
      const keys = new QueueKeys(prefix);
      return new RedisQueueBackend(
        new RedisConnection(main, { shared: true, blocking: false }),
        name,
        keys.getKeys(name),
        (type) => keys.toKey(name, type),
        opts as ConstructorParameters<typeof RedisQueueBackend>[4],
        new RedisConnection(blocking, { shared: true, blocking: true }),
      );
    });
    return {
      worker,
      connected: () => clients.every(isReady),
      end: async () => {
        for (const client of clients) disconnect(client);
      },
    };
  }
}
