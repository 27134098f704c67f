import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { GuardedServer } from './guard.js';
import { lastLines } from './server-log.js';
import { StartFailure } from './start-failure.js';

/** Loading a large append-only file takes a while; the server answers -LOADING meanwhile. */
const readyWithinMs = 60_000;
const oneTryMs = 2_000;

export async function waitForPong(
  port: number,
  password: string | undefined,
  server: GuardedServer,
  logPath: string,
): Promise<void> {
  const lastMs = Date.now() + readyWithinMs;
  while (Date.now() < lastMs) {
    if (server.end) {
      throw new StartFailure(`Redis ended while it started: ${lastLines(logPath, 3)} (log: ${logPath})`);
    }
    if (await pongs(port, password)) return;
    await pause(20);
  }
  throw new StartFailure(`Redis does not answer on port ${port} (log: ${logPath})`);
}

/** Speaks the inline form of the protocol: the launcher needs no client for one PING. */
async function pongs(port: number, password: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    let said = '';
    const socket = net.connect({ port, host: '127.0.0.1', timeout: oneTryMs }, () => {
      socket.write(`${password === undefined ? '' : `AUTH ${password}\r\n`}PING\r\n`);
    });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk) => {
      said += chunk.toString();
      if (said.includes('+PONG')) settle(true);
      else if (/-[A-Z]+ /.test(said)) settle(false);
    });
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
