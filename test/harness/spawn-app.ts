import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { appMain } from '../../apps/local/src/checkout.js';
import { openLogFile } from './log-file.js';
import { noteEnded, noteStarted, trackChild } from './running.js';
import { waitFor } from './wait-for.js';

type AppName = 'gateway' | 'worker' | 'simulator';

export interface SpawnOptions {
  /** The port of its HTTP side (of the worker: health); default any free one. Give it to restart in place. */
  port?: number;
  readyWithinMs?: number;
  /** Given to node before the main, for example `['--max-old-space-size=128']`. */
  nodeArguments?: string[];
  /** The folder of another built release, in the place of this checkout. */
  checkout?: string;
}

/** Where an app listens, as it says itself. */
export interface Addresses {
  /** `http://127.0.0.1:port`: the gateway's base, the worker's health, the simulator's provider APIs. */
  url: string;
  /** Metrics, probes and what else is for operators; of the worker the same as `url`. */
  internalUrl: string;
  /** The simulator's second origin; elsewhere undefined. */
  assetUrl: string | undefined;
}

/** An app that runs, seen from outside. Its addresses are there once it listens. */
export interface RunningApp extends Addresses {
  name: AppName;
  /** Both streams so far. */
  logs(): string;
}

export interface App extends RunningApp {
  child: ChildProcess;
  pid: number;
  /** Of `url`. */
  port: number;
  logPath: string;
  /** It says where it listens. Both reject when it ends or takes too long, with the end of its log. */
  listening: Promise<void>;
  /** It listens, and its dependencies are there. */
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
  const log = openLogFile(name);
  const child = spawn(
    process.execPath,
    [...(options.nodeArguments ?? []), appMain(name, 'main.js', options.checkout)],
    {
      env: { ...surroundings(), ...listeners(name, options.port ?? 0), ...env },
      stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
    },
  );
  closeSync(log.descriptor);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);
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
  trackChild(child, name);
  noteStarted({ pid, name, end: async () => void (await stop(2_000)) });

  let addresses: Addresses | undefined;
  const { listening, ready } = watched(
    name,
    child,
    options.readyWithinMs ?? 90_000,
    log.file.read,
    (found) => {
      addresses = found;
    },
  );
  // Whoever never looks at them must not get an unhandled rejection.
  for (const each of [listening, ready]) each.catch(() => {});
  const known = (): Addresses => {
    if (addresses) return addresses;
    throw new Error(`${name} has not said where it listens: wait for it`);
  };
  return {
    name,
    child,
    pid,
    get url() {
      return known().url;
    },
    get port() {
      return Number(new URL(known().url).port);
    },
    get internalUrl() {
      return known().internalUrl;
    },
    get assetUrl() {
      return known().assetUrl;
    },
    logPath: log.file.path,
    logs: log.file.read,
    listening,
    ready,
    kill: async (signal) => {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
    stop,
  };
}

/** Follows its start: first it says where it listens, then it is ready. */
function watched(
  name: AppName,
  child: ChildProcess,
  withinMs: number,
  logs: () => string,
  heard: (addresses: Addresses) => void,
): { listening: Promise<void>; ready: Promise<void> } {
  const lastMs = performance.now() + withinMs;
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
    try {
      await waitFor(async () => ended() || condition(), {
        withinMs: lastMs - performance.now(),
        what: `${name} ${what}`,
        everyMs: 50,
      });
      if (ended()) throw new Error(`${name} ended (${child.exitCode ?? child.signalCode})`);
    } catch (cause) {
      throw new Error(`${String(cause)}; its log ends with:\n${logs().slice(-2_000)}`, { cause });
    }
  };
  let health = '';
  const listening = until('to say where it listens', () => {
    const addresses = announced(name, logs());
    if (addresses) heard(addresses);
    health = `${addresses?.url}/health/ready`;
    return addresses !== undefined;
  });
  const healthy = async () => {
    const reply = await fetch(health, { signal: AbortSignal.timeout(2_000) });
    await reply.body?.cancel();
    return reply.status === 200;
  };
  return {
    listening,
    ready: name === 'simulator' ? listening : listening.then(() => until('to be ready', healthy)),
  };
}

/** The line in which an app says where it listens. */
function announced(name: AppName, log: string): Addresses | undefined {
  const [line] = /^\{.*("api"|gateway is listening|worker started).*\}$/m.exec(log) ?? [];
  if (line === undefined) return undefined;
  const said = JSON.parse(line) as {
    api: string;
    assets: string;
    url: string;
    internal: { address: string; port: number };
  };
  switch (name) {
    case 'simulator':
      return { url: said.api, internalUrl: said.assets, assetUrl: said.assets };
    case 'gateway':
      return { url: said.url, internalUrl: originOf(said.internal), assetUrl: undefined };
    case 'worker':
      return { url: originOf(said.internal), internalUrl: originOf(said.internal), assetUrl: undefined };
  }
}

const originOf = ({ address, port }: { address: string; port: number }): string =>
  `http://${address}:${port}`;

/** Every listener takes a free port of its own, but the one that is given. */
function listeners(name: AppName, port: number): Record<string, string> {
  switch (name) {
    case 'gateway':
      return { HOST: '127.0.0.1', PORT: String(port), INTERNAL_PORT: '0' };
    case 'worker':
      return { INTERNAL_PORT: String(port) };
    case 'simulator':
      return { SIMULATOR_PORT: String(port), SIMULATOR_ASSET_PORT: '0' };
  }
}

function surroundings(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}
