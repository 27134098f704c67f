import { once } from 'node:events';
import net from 'node:net';

/** A port that was free on 127.0.0.1 a moment ago; `preferred` when it is free. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await portProblem(preferred, '127.0.0.1')) === undefined) return preferred;
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given');
  return address.port;
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
