import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './json-file.js';
import type { LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';

const portNames = ['postgres', 'redis', 'simulator', 'simulatorAssets', 'worker'] as const;
export type Ports = Record<(typeof portNames)[number], number>;

/** The same ports at each start where they are free: stored results refer to URLs of the simulator with a port in them. */
export async function choosePorts(file: string): Promise<Ports> {
  const before = readJsonFile(file, z.record(z.string(), z.number().int())) ?? {};
  const chosen = {} as Ports;
  for (const name of portNames) chosen[name] = await freePort(before[name]);
  writeJsonFile(file, chosen);
  return chosen;
}

// Below what systems give to outgoing connections (Linux from 32768, macOS from 49152): any of those may take a port
// of that range between the look and the use.
const range = { lowest: 20_000, highest: 32_767 };

/** A port looks free until whoever asked for it listens there: nobody else gets it. */
const given = new Set<number>();

/** A port that was free on 127.0.0.1 a moment ago, another one each time; `preferred` when it is free. */
export async function freePort(preferred?: number, { lowest, highest } = range): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = tries === 0 && preferred !== undefined ? preferred : randomInt(lowest, highest + 1);
    if (given.has(port)) continue;
    given.add(port);
    if ((await portProblem(port, '127.0.0.1')) === undefined) return port;
  }
  throw new Error(`No free port was found from ${lowest} to ${highest}`);
}

/** Called before anything is started, so that a busy port costs nothing. */
export async function assertPortFree({ PORT, HOST }: LocalSettings): Promise<void> {
  const problem = await portProblem(PORT, HOST);
  if (problem === 'EADDRINUSE') throw new StartFailure(`Port ${PORT} is in use: set PORT to another one`);
  if (problem !== undefined) throw new StartFailure(`Cannot listen on ${HOST} port ${PORT} (${problem})`);
}

/** Undefined when one can listen there, else the system's code, such as EADDRINUSE or EACCES. */
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
