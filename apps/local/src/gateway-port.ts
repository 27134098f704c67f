import { setTimeout as pause } from 'node:timers/promises';
import { portProblem } from './embedded/ports.js';
import { StartFailure } from './embedded/start-failure.js';
import type { LocalSettings } from './settings.js';

/** The gateway of a killed launcher needs at most this long to end. */
const formerGatewayMs = 5_000;

/** Looks before anything is started, so that a busy port costs nothing. */
export async function demandPort({ PORT, HOST }: LocalSettings, afterKill: boolean): Promise<void> {
  const lastMs = Date.now() + (afterKill ? formerGatewayMs : 0);
  let problem = await portProblem(PORT, HOST);
  while (problem === 'EADDRINUSE' && Date.now() < lastMs) {
    await pause(50);
    problem = await portProblem(PORT, HOST);
  }
  if (problem === 'EADDRINUSE') throw new StartFailure(`Port ${PORT} is in use: set PORT to another one`);
  if (problem !== undefined) throw new StartFailure(`One cannot listen on ${HOST} port ${PORT} (${problem})`);
}

/** Where the gateway is reached from this machine. */
export function localUrl({ PORT, HOST }: LocalSettings): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}
