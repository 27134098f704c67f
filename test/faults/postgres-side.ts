import { childrenOf, type TestServer } from '../harness/servers.js';
import type { App } from '../harness/spawn-app.js';

/** Stops a Postgres with all its sessions in the middle of their work; returns a function that resumes it. */
export function freeze(server: TestServer): () => void {
  // The server first, because it could start another session meanwhile.
  process.kill(server.pid, 'SIGSTOP');
  const frozen = [server.pid, ...childrenOf(server.pid)];
  for (const pid of frozen) process.kill(pid, 'SIGSTOP');
  return () => {
    // The server last, because it reaps sessions that ended meanwhile, and signals to those would fail.
    for (const pid of frozen.toReversed()) process.kill(pid, 'SIGCONT');
  };
}

/** Apps that have exited, by name and cause, with the end of their logs. */
export const ended = (apps: readonly App[]): string[] =>
  apps
    .filter(({ child }) => child.exitCode !== null || child.signalCode !== null)
    .map(
      (app) =>
        `${app.name} ended with ${app.child.exitCode ?? app.child.signalCode}: ${app.logs().slice(-1500)}`,
    );
