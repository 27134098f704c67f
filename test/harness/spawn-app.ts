import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { appMain } from '../../apps/local/src/checkout.js';
import { openLogFile } from './log-file.js';
import { noteEnded, noteStarted, trackChild } from './running.js';
import { waitFor } from './wait-for.js';

type AppName = 'gateway' | 'worker' | 'simulator';

export interface SpawnOptions {
  /**
   * The port for HTTP (a worker's health); any free one by default. Set it to restart an app at the same address.
   */
  port?: number;
  readyWithinMs?: number;
  /** Node options, for example `['--max-old-space-size=128']`. */
  nodeArguments?: string[];
  /** The folder of another built release, instead of this checkout. */
  checkout?: string;
}

/** The addresses that an app reports in its log. */
export interface Addresses {
  /** `http://127.0.0.1:port`: the gateway's base, the worker's health, the simulator's provider APIs. */
  url: string;
  /** Metrics, probes and other operator routes; for a worker the same as `url`. */
  internalUrl: string;
  /** The simulator's second origin; undefined for other apps. */
  assetUrl: string | undefined;
}

/** A running app, seen from outside. Its addresses are known once it listens. */
export interface RunningApp extends Addresses {
  name: AppName;
  /** Both output streams so far. */
  logs(): string;
}

export interface App extends RunningApp {
  child: ChildProcess;
  pid: number;
  /** The port of `url`. */
  port: number;
  logPath: string;
  /**
   * Resolves when the app reports its address. Both promises reject, with the end of its log, if it exits or
   * takes too long.
   */
  listening: Promise<void>;
  /** Resolves when the app listens and its dependencies are up. */
  ready: Promise<void>;
  /** Sends the signal; after SIGKILL it also waits for the exit. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** SIGTERM, then SIGKILL after `withinMs` (60 s by default). Returns the exit code, or null after a signal. */
  stop(withinMs?: number): Promise<number | null>;
}

/** Runs a built app with only PATH and HOME of the caller's environment. */
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
  if (pid === undefined) throw new Error(`${name} did not start`);
  const ended = once(child, 'close').then(() => noteEnded(pid));
  let isStopping = false;
  const stop = async (withinMs = 60_000) => {
    if (child.exitCode === null && child.signalCode === null) {
      // A second signal would end the app at once.
      if (!isStopping) child.kill('SIGTERM');
      isStopping = true;
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
  // A caller that never awaits them must not cause an unhandled rejection.
  for (const each of [listening, ready]) each.catch(() => {});
  const known = (): Addresses => {
    if (addresses) return addresses;
    throw new Error(`${name} has not reported its address yet; await \`listening\``);
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

/** Follows the start of an app: first it reports its address, then it is ready. */
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
  const listening = until('to report its address', () => {
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

/** The log line in which an app reports its address. */
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

/** Every listener takes a free port, except for the given one. */
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
