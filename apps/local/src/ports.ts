import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './json-file.js';
import type { LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';

const portNames = ['postgres', 'redis', 'simulator', 'simulatorAssets', 'worker'] as const;
export type Ports = Record<(typeof portNames)[number], number>;

/** Reuses the ports of the previous start if they are free: stored results contain URLs of the simulator. */
export async function choosePorts(file: string): Promise<Ports> {
  const before = readJsonFile(file, z.record(z.string(), z.number().int())) ?? {};
  const chosen = {} as Ports;
  for (const name of portNames) chosen[name] = await freePort(before[name]);
  writeJsonFile(file, chosen);
  return chosen;
}

// Below the ephemeral ports of outgoing connections (Linux from 32768, macOS from 49152), since such a
// connection could take a port between the check and its use.
const range = { lowest: 20_000, highest: 32_767 };

/** Ports that were handed out before. They look free until something listens on them. */
const given = new Set<number>();

/** Returns a port that was free on 127.0.0.1 a moment ago, never the same one twice. Prefers `preferred`. */
export async function freePort(preferred?: number, { lowest, highest } = range): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = tries === 0 && preferred !== undefined ? preferred : randomInt(lowest, highest + 1);
    if (given.has(port)) continue;
    given.add(port);
    if ((await portProblem(port, '127.0.0.1')) === undefined) return port;
  }
  throw new Error(`No free port found from ${lowest} to ${highest}`);
}

/** Called before anything is started, so that a busy port is reported at once. */
export async function assertPortFree({ PORT, HOST }: LocalSettings): Promise<void> {
  const problem = await portProblem(PORT, HOST);
  if (problem === 'EADDRINUSE') throw new StartFailure(`Port ${PORT} is in use. Set PORT to another one.`);
  if (problem !== undefined) throw new StartFailure(`Cannot listen on ${HOST} port ${PORT} (${problem})`);
}

/** Undefined if the port can be used, otherwise the system's error code, such as EADDRINUSE or EACCES. */
async function portProblem(port: number, host: string): Promise<string | undefined> {
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
