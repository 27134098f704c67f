import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { FromGuard, ServerSpec, ToGuard } from './guard-messages.js';
import { isRunning } from './processes.js';

/** Apps end by themselves when their channel closes; after this they are killed. */
const appGraceMs = 2_000;
/** With the owner gone no server gets longer than this, so that nothing outlives it by five seconds. */
const orphanGraceMs = 1_500;

interface Guarded {
  child: ChildProcess;
  spec: ServerSpec;
  ended: Promise<void>;
}

/**
 * The guard is a process between the owner (the launcher, a test file) and its servers. Postgres and
 * Redis notice nothing when the owner is killed; the guard does, because its channel closes, and
 * stops them. It is in a process group of its own: Ctrl-C must not reach the servers before the apps.
 */
export function serveGuard(): void {
  const servers = new Map<number, Guarded>();
  const watched = new Set<number>();
  const files = new Set<string>();
  let leaving = false;

  const leave = async () => {
    if (leaving) return;
    leaving = true;
    for (const file of files) rmSync(file, { force: true });
    await endWatched(watched);
    await Promise.all([...servers.values()].map((server) => stop(server, orphanGraceMs)));
    process.exit(0);
  };

  process.on('message', (message: ToGuard) => {
    if (leaving) return;
    switch (message.kind) {
      case 'run':
        run(message.id, message.spec, servers);
        return;
      case 'stop': {
        const server = servers.get(message.id);
        if (server) void stop(server, server.spec.graceMs);
        return;
      }
      case 'watch':
        watched.add(message.pid);
        return;
      case 'forget':
        watched.delete(message.pid);
        return;
      case 'remove':
        files.add(message.file);
    }
  });
  process.on('disconnect', () => void leave());
  process.on('SIGTERM', () => void leave());
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
}

function run(id: number, spec: ServerSpec, servers: Map<number, Guarded>): void {
  const opened: number[] = [];
  try {
    const log = openSync(spec.logPath, 'a', 0o600);
    opened.push(log);
    if (spec.folder !== undefined) {
      opened.push(openSync(spec.folder, constants.O_RDONLY | constants.O_DIRECTORY));
    }
    const child = spawn(spec.command, spec.args, {
      ...spec.account,
      cwd: '/',
      env: spec.env,
      // A group of its own, so that a signal to the guard's group does not end it unasked.
      detached: true,
      stdio: ['ignore', log, log, ...opened.slice(1)],
    });
    child.once('error', (error) => tell({ kind: 'failed', id, message: error.message }));
    if (child.pid === undefined) return;
    const ended = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        servers.delete(id);
        tell({ kind: 'ended', id, code, signal });
        resolve();
      });
    });
    servers.set(id, { child, spec, ended });
    tell({ kind: 'started', id, pid: child.pid });
  } catch (error) {
    tell({ kind: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

async function stop(server: Guarded, graceMs: number): Promise<void> {
  server.child.kill(server.spec.stopSignal);
  // A frozen server takes no other signal before this one.
  server.child.kill('SIGCONT');
  const timer = setTimeout(() => server.child.kill('SIGKILL'), graceMs);
  await server.ended;
  clearTimeout(timer);
}

async function endWatched(pids: Set<number>): Promise<void> {
  const lastMs = Date.now() + appGraceMs;
  while ([...pids].some(isRunning) && Date.now() < lastMs) await pause(50);
  for (const pid of pids) {
    if (!isRunning(pid)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended between the look and the signal.
    }
  }
}

function tell(message: FromGuard): void {
  if (process.connected) process.send?.(message, () => {});
}
