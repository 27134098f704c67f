import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

// Below what systems give to outgoing connections (Linux from 32768, macOS from 49152): any of those may take a port
// of that range between the look and the use.
const range = { lowest: 20_000, highest: 32_767 };

/** A port looks free until whoever asked for it listens there: nobody else gets it. */
const given = new Set<number>();

/** A port that was free on 127.0.0.1 a moment ago, another one each time; `preferred` when it is free. */
export async function freePort(preferred?: number, { lowest, highest } = range): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = tries === 0 && preferred !== undefined ? preferred : randomInt(lowest, highest + 1);
    if (given.has(port) && port !== preferred) continue;
    given.add(port);
    if ((await portProblem(port, '127.0.0.1')) === undefined) return port;
  }
  throw new Error(`No free port was found from ${lowest} to ${highest}`);
}

/** Undefined when one can listen there, else the system's code, such as EADDRINUSE or EACCES. */
export async function portProblem(port: number, host: string): Promise<string | undefined> {
  const server = net.createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
