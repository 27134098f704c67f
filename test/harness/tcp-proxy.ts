import { once } from 'node:events';
import net from 'node:net';
import { noteCreated, noteDropped } from './running.js';

/**
 * `pass`; `latency`: each chunk is `latencyMs` late, in both directions; `blackhole`: connections stay open, new
 * ones are accepted, but no bytes pass; `reset`: open and new connections are reset (RST); `half-open`: the
 * client's bytes arrive, but answers do not come back. Bytes that are held back are delivered later, as TCP would
 * retransmit them.
 */
type FaultMode = 'pass' | 'latency' | 'blackhole' | 'reset' | 'half-open';

export interface TcpProxy {
  port: number;
  /** `127.0.0.1:port`, to use instead of the target's address. */
  address: string;
  set(mode: FaultMode, latencyMs?: number): void;
  /** Number of open client connections. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * A TCP proxy that injects faults in front of any server on this machine, on a new port or a given one. Starts
 * with `pass`.
 */
export async function tcpProxy(target: { port: number; host?: string }, at = 0): Promise<TcpProxy> {
  let mode: FaultMode = 'pass';
  let delayMs = 0;
  const clients = new Map<net.Socket, net.Socket>();
  const currentDelay = () => (mode === 'latency' ? delayMs : 0);
  const holdOrRelease = (client: net.Socket, upstream: net.Socket) => {
    hold(client, mode === 'blackhole');
    hold(upstream, mode === 'blackhole' || mode === 'half-open');
  };

  const server = net.createServer((client) => {
    client.on('error', () => {});
    if (mode === 'reset') {
      tearDown(client);
      return;
    }
    const upstream = net.connect({ port: target.port, host: target.host ?? '127.0.0.1' });
    upstream.on('error', () => {});
    clients.set(client, upstream);
    client.once('close', () => clients.delete(client));
    relay(client, upstream, currentDelay);
    relay(upstream, client, currentDelay);
    holdOrRelease(client, upstream);
  });
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const name = `proxy on port ${port}`;
  noteCreated(name);
  return {
    port,
    address: `127.0.0.1:${port}`,
    get connections() {
      return clients.size;
    },
    set: (next, latencyMs = 0) => {
      mode = next;
      delayMs = latencyMs;
      for (const [client, upstream] of clients) {
        if (mode === 'reset') tearDown(client, upstream);
        else holdOrRelease(client, upstream);
      }
    },
    close: async () => {
      for (const [client, upstream] of clients) {
        client.destroy();
        upstream.destroy();
      }
      server.close();
      await once(server, 'close');
      noteDropped(name);
    },
  };
}

function tearDown(client: net.Socket, upstream?: net.Socket): void {
  client.resetAndDestroy();
  upstream?.destroy();
}

function hold(socket: net.Socket, held: boolean): void {
  if (held) socket.pause();
  else socket.resume();
}

/** Keeps the order of the chunks even if the delay changes between two of them. */
function relay(from: net.Socket, to: net.Socket, currentDelay: () => number): void {
  const late: Buffer[] = [];
  const deliver = (chunk: Buffer | undefined) => {
    if (chunk !== undefined && !to.destroyed) to.write(chunk);
  };
  from.on('data', (chunk) => {
    const waitMs = currentDelay();
    if (waitMs === 0 && late.length === 0) {
      deliver(chunk);
      return;
    }
    late.push(chunk);
    setTimeout(() => deliver(late.shift()), waitMs);
  });
  from.on('close', () => to.destroySoon());
}
