import { settlesWithin } from '#observability';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSchemaCompatibility } from 'bullmq';
import { Client, Pool } from 'pg';

/** BullMQ's tables live in a schema of their own; its SQL names them without it. */
const SESSION = '-c search_path=bullmq';
const BETWEEN_TRIES_MS = 200;
const SHUT_MS = 500;

/** The URL with our start-up options: those in a URL replace any given beside it, so they must stand in one place. */
export function withSessionOptions(url: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.set('options', given === null ? SESSION : `${given} ${SESSION}`);
  return parsed.toString();
}

/** A pool whose waits all end, and whose connections can be cut. `ready` resolves once BullMQ's tables are there. */
export class BoundedPool extends Pool {
  private readonly sockets: Sockets;
  private contact: Promise<void> | undefined;

  constructor(
    url: string,
    max: number,
    timeoutMs: number,
    applicationName: string,
    private readonly ready: Promise<void>,
  ) {
    const sockets = new Sockets();
    super({
      connectionString: withSessionOptions(url),
      max,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: applicationName,
      allowExitOnIdle: true,
      stream: sockets.open,
    });
    this.sockets = sockets;
    this.on('error', () => {});
    // BullMQ checks clients out without listening for errors, and an unheard one ends the process.
    this.on('connect', (client) => client.on('error', () => {}));
  }

  /** Resolves once the server has answered with BullMQ's tables; tried until then, or until the pool ends. */
  firstContact(): Promise<void> {
    this.contact ??= this.makeContact();
    return this.contact;
  }

  shut(): Promise<void> {
    return this.sockets.shut(this);
  }

  private async makeContact(): Promise<void> {
    await this.ready;
    for (;;) {
      try {
        await assertSchemaCompatibility(this);
        return;
      } catch (error) {
        if (this.ending) throw error;
        await sleep(BETWEEN_TRIES_MS);
      }
    }
  }
}

/** One connection of its own, for LISTEN or for migrations. */
export class Session extends Client {
  private readonly sockets: Sockets;

  constructor(url: string, applicationName: string) {
    const sockets = new Sockets();
    super({
      connectionString: url,
      connectionTimeoutMillis: 2_000,
      query_timeout: 30_000,
      keepAlive: true,
      application_name: applicationName,
      stream: sockets.open,
    });
    this.sockets = sockets;
    this.on('error', () => {});
  }

  shut(): Promise<void> {
    return this.sockets.shut(this);
  }
}

class Sockets {
  private readonly opened = new Set<Socket>();

  readonly open = (): Socket => {
    const socket = new Socket();
    this.opened.add(socket);
    return socket.once('close', () => this.opened.delete(socket));
  };

  /** Ends their owner, or destroys them when the server does not answer. */
  async shut(owner: Pool | Client): Promise<void> {
    await settlesWithin(owner.end(), SHUT_MS);
    for (const socket of this.opened) socket.destroy();
  }
}
