import { settlesWithin } from '#observability';
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';

const shutMs = 500;

/** A pool whose waits all end after `timeoutMs`, and whose connections can be destroyed. */
export class BoundedPool extends Pool {
  private readonly sockets: Sockets;

  constructor(url: string, max: number, timeoutMs: number, applicationName: string) {
    const sockets = new Sockets();
    super({
      ...optionsOf(url, timeoutMs, applicationName),
      max,
      allowExitOnIdle: true,
      stream: sockets.open,
    });
    this.sockets = sockets;
    this.on('error', () => {});
  }

  shut(): Promise<void> {
    return this.sockets.shut(this);
  }
}

/** A dedicated connection for LISTEN. */
export class Session extends Client {
  private readonly sockets: Sockets;

  constructor(url: string, applicationName: string) {
    const sockets = new Sockets();
    super({ ...optionsOf(url, 2_000, applicationName), stream: sockets.open });
    this.sockets = sockets;
    this.on('error', () => {});
  }

  shut(): Promise<void> {
    return this.sockets.shut(this);
  }
}

const optionsOf = (url: string, timeoutMs: number, applicationName: string): ClientConfig => ({
  connectionString: url,
  connectionTimeoutMillis: timeoutMs,
  query_timeout: timeoutMs,
  keepAlive: true,
  application_name: applicationName,
});

class Sockets {
  private readonly opened = new Set<Socket>();

  readonly open = (): Socket => {
    const socket = new Socket();
    this.opened.add(socket);
    return socket.once('close', () => this.opened.delete(socket));
  };

  /** Ends the owner of the sockets, or destroys them if the server does not answer. */
  async shut(owner: Pool | Client): Promise<void> {
    await settlesWithin(owner.end(), shutMs);
    for (const socket of this.opened) socket.destroy();
  }
}
