import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appMain } from '../../apps/local/src/checkout.js';
import { freePort } from './ports.js';
import { fileGuard, noteEnded, noteStarted } from './running.js';
import { waitFor } from './wait-for.js';

type AppName = 'gateway' | 'worker' | 'simulator';

export interface SpawnOptions {
  /** The port of its HTTP side (of the worker: health); default a free one. Give it to restart in place. */
  port?: number;
  readyWithinMs?: number;
  /** Given to node before the main, for example `['--max-old-space-size=128']`. */
  nodeArguments?: string[];
}

export interface App {
  name: AppName;
  child: ChildProcess;
  pid: number;
  port: number;
  /** `http://127.0.0.1:port`: the gateway's base, the worker's health, the simulator's partner APIs. */
  url: string;
  /** Metrics, probes and what else is for operators; of the worker the same as `url`. */
  internalUrl: string;
  /** The simulator's second origin; elsewhere undefined. */
  assetUrl: string | undefined;
  /** Both streams so far. */
  logs(): string;
  /** Rejects when it ends or takes too long, with the end of its log. */
  ready: Promise<void>;
  /** Sends the signal; after SIGKILL it also waits for the end. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** SIGTERM, and SIGKILL after `withinMs` (default 60 s). The exit code; null after a signal. */
  stop(withinMs?: number): Promise<number | null>;
}

/** Runs a built app with nothing of the caller's environment but PATH and HOME. */
export async function spawnApp(
  name: AppName,
  env: Record<string, string>,
  options: SpawnOptions = {},
): Promise<App> {
  const port = options.port ?? (await freePort());
  const secondPort = name === 'worker' ? port : await freePort();
  const child = spawn(process.execPath, [...(options.nodeArguments ?? []), appMain(name)], {
    env: { ...surroundings(), ...portVariables(name, port, secondPort), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);
  let logs = '';
  child.stdout?.on('data', (chunk: Buffer) => (logs += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (logs += chunk.toString()));
  const ended = once(child, 'close').then(() => noteEnded(pid));
  const stop = async (withinMs = 60_000) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
      await ended;
      clearTimeout(timer);
    }
    return child.exitCode;
  };
  fileGuard().watch(child);
  noteStarted({ pid, name, end: async () => void (await stop(2_000)) });

  const url = `http://127.0.0.1:${port}`;
  const ready = waitUntilReady(name, url, child, options.readyWithinMs ?? 90_000, () => logs);
  // Whoever never looks at it must not get an unhandled rejection.
  ready.catch(() => {});
  return {
    name,
    child,
    pid,
    port,
    url,
    internalUrl: `http://127.0.0.1:${secondPort}`,
    assetUrl: name === 'simulator' ? `http://127.0.0.1:${secondPort}` : undefined,
    logs: () => logs,
    ready,
    kill: async (signal) => {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
    stop,
  };
}

async function waitUntilReady(
  name: AppName,
  url: string,
  child: ChildProcess,
  withinMs: number,
  logs: () => string,
): Promise<void> {
  const isReady = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return 'ended';
    if (name === 'simulator') return /^\{.*"api"/m.test(logs()) && 'ready';
    const reply = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    await reply.body?.cancel();
    return reply.status === 200 && 'ready';
  };
  try {
    const state = await waitFor(isReady, { withinMs, what: `${name} to be ready`, everyMs: 50 });
    if (state === 'ended') throw new Error(`${name} ended (${child.exitCode ?? child.signalCode})`);
  } catch (cause) {
    throw new Error(`${String(cause)}; its log ends with:\n${logs().slice(-2_000)}`, { cause });
  }
}

function portVariables(name: AppName, port: number, secondPort: number): Record<string, string> {
  switch (name) {
    case 'gateway':
      return {
        ASSET_BASE_URL: `http://127.0.0.1:${port}`,
        HOST: '127.0.0.1',
        PORT: String(port),
        INTERNAL_PORT: String(secondPort),
      };
    case 'worker':
      return { INTERNAL_PORT: String(port) };
    case 'simulator':
      return { SIMULATOR_PORT: String(port), SIMULATOR_ASSET_PORT: String(secondPort) };
  }
}

function surroundings(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}
