import { settlesWithin } from '#observability';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool, type PoolClient } from 'pg';

/** BullMQ's tables live in a schema of their own; its SQL names them without it. */
const SESSION = '-c search_path=bullmq';
const BETWEEN_FAILURES_MS = 200;
const SHUT_MS = 500;

/** The URL with our start-up options: those in a URL replace any given beside it, so they must stand in one place. */
export function withSessionOptions(url: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.set('options', given === null ? SESSION : `${given} ${SESSION}`);
  return parsed.toString();
}

/** A pool whose waits all end, and whose connections can be cut. Not usable before `ready` resolves. */
export class BoundedPool extends Pool {
  private readonly sockets: Set<Socket>;
  private hasServed = false;

  constructor(
    url: string,
    max: number,
    timeoutMs: number,
    applicationName: string,
    private readonly ready: Promise<void>,
  ) {
    const opened = new Set<Socket>();
    super({
      connectionString: withSessionOptions(url),
      max,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: applicationName,
      allowExitOnIdle: true,
      stream: () => remembered(opened),
    });
    this.sockets = opened;
    this.on('error', () => {});
    // BullMQ checks clients out without listening for errors, and an unheard one ends the process.
    this.on('connect', (client) => client.on('error', () => {}));
  }

  /** With a callback, as the pool's own queries call it, a failure is the query's. */
  override connect = (async (...call: unknown[]) => {
    await this.ready;
    if (call.length === 0 && !this.hasServed) return this.firstClient();
    return (super.connect as (...call: unknown[]) => Promise<unknown>)(...call);
  }) as Pool['connect'];

  /**
   * BullMQ's first contact comes here, and a failed one it remembers for ever: a worker would never take a job. So it
   * gets its connection when there is one that answers.
   */
  private async firstClient(): Promise<PoolClient> {
    for (;;) {
      try {
        const client = await super.connect();
        await client.query('SELECT 1').catch((error: unknown) => {
          client.release(true);
          throw error;
        });
        this.hasServed = true;
        return client;
      } catch (error) {
        if (this.ending) throw error;
        await sleep(BETWEEN_FAILURES_MS);
      }
    }
  }

  /** Ends the pool, by its sockets when the server does not answer. */
  async shut(): Promise<void> {
    await settlesWithin(this.end(), SHUT_MS);
    for (const socket of this.sockets) socket.destroy();
  }
}

/** For workers: after a failed query it waits a moment, because BullMQ asks again at once and would burn a processor. */
export class WorkerPool extends BoundedPool {
  override query = (async (...call: unknown[]) => {
    try {
      return await (super.query as (...call: unknown[]) => Promise<unknown>)(...call);
    } catch (error) {
      await sleep(BETWEEN_FAILURES_MS);
      throw error;
    }
  }) as Pool['query'];
}

/** One connection of its own, for LISTEN or for migrations. */
export class Session extends Client {
  private readonly sockets: Set<Socket>;

  constructor(url: string, applicationName: string) {
    const opened = new Set<Socket>();
    super({
      connectionString: url,
      connectionTimeoutMillis: 2_000,
      query_timeout: 30_000,
      keepAlive: true,
      application_name: applicationName,
      stream: () => remembered(opened),
    });
    this.sockets = opened;
    this.on('error', () => {});
  }

  /** Ends it, by its socket when the server does not answer. */
  async shut(): Promise<void> {
    await settlesWithin(this.end(), SHUT_MS);
    for (const socket of this.sockets) socket.destroy();
  }
}

function remembered(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  return socket;
}
