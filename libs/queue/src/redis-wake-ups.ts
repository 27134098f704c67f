import { setTimeout as sleep } from 'node:timers/promises';
import { disconnect, isReady, type RedisClient } from './redis-connections.js';
import { Gathered, type WakeUpListener } from './wake-ups.js';

const list = 'mr:wake-ups';
/** Maximum length of the list, which grows while no worker runs. One wake-up per provider is enough. */
const maxKept = 1_000;
const pushesPerTrim = 100;
const blockSeconds = 5;
const betweenFailuresMs = 200;

/** A list in Redis. Each wake-up goes to the worker that has waited longest. */
export class RedisWakeUps {
  private pushes = 0;
  private readonly gathered = new Gathered((providers) => this.push(providers));

  constructor(
    private readonly producer: RedisClient,
    private readonly connect: () => RedisClient,
    private readonly isTaking: () => boolean,
  ) {}

  /** Tells a worker that runs wait for the providers. Never rejects: workers look once a second anyway. */
  wake(providers: Iterable<string>): void {
    if (isReady(this.producer)) this.gathered.add(providers);
  }

  listen(callback: (provider: string) => void): WakeUpListener {
    return new RedisListener(this.connect(), this.isTaking, callback);
  }

  private async push(providers: string[]): Promise<void> {
    await this.producer.lpush(list, ...providers).catch(() => {});
    this.pushes += 1;
    if (this.pushes % pushesPerTrim === 0) await this.producer.ltrim(list, 0, maxKept - 1).catch(() => {});
  }
}

class RedisListener implements WakeUpListener {
  private isClosed = false;

  constructor(
    private readonly client: RedisClient,
    private readonly isTaking: () => boolean,
    private readonly callback: (provider: string) => void,
  ) {
    client.on('error', () => {});
    void this.hear();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    disconnect(this.client);
  }

  private async hear(): Promise<void> {
    while (!this.isClosed) {
      const popped = this.isTaking() ? this.client.brpop(list, blockSeconds) : sleep(betweenFailuresMs);
      // Without the pause, a server that answers only with errors would cause a busy loop.
      const answer = await popped.catch(() => sleep(betweenFailuresMs));
      if (answer) this.callback(answer[1]);
    }
  }
}
