import { expect } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { appMain } from '../../../apps/local/src/checkout.js';
import { freePort } from '../../harness/faults.js';
import { longTimeouts } from '../../harness/index.js';
import { noteEnded, noteStarted, trackChild } from '../../harness/running.js';
import { waitFor } from '../../harness/wait-for.js';

/** A start takes three seconds, and much longer while other tests keep the machine busy. */
export const readyWithinMs = 180_000;

export interface Ready {
  base_url: string;
  api_key: string;
  access_token: string;
  database_url: string;
  redis_url: string | null;
  transport: 'redis' | 'postgres';
  s3_endpoint: string | null;
}

export interface Launched {
  pid: number;
  out(): string;
  error(): string;
  /** The content of ready.json, once everything answers. */
  ready(): Promise<Ready>;
  /** Signals only the launcher. */
  kill(signal: NodeJS.Signals): void;
  /** Signals its process group, as a terminal does for Ctrl-C. */
  killGroup(signal: NodeJS.Signals): void;
  ended: Promise<number | null>;
}

interface LaunchOptions {
  folder: string;
  port?: number;
  env?: Record<string, string>;
  main?: string;
  args?: string[];
  account?: { uid: number; gid: number };
}

/** Runs the built launcher in a separate folder, as `npm start` does. */
export async function launch(options: LaunchOptions): Promise<Launched> {
  const { PATH = '', HOME = '' } = process.env;
  const port = options.port ?? (await freePort());
  const child = spawn(process.execPath, [options.main ?? appMain('local'), ...(options.args ?? [])], {
    ...options.account,
    env: { PATH, HOME, ...longTimeouts, LOCAL_DIR: options.folder, PORT: String(port), ...options.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let error = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (error += chunk.toString()));
  const { pid } = child;
  if (pid === undefined) throw new Error('the launcher did not start');
  // Waits for `close`, so that all output has been read.
  const ended = once(child, 'close').then(() => {
    noteEnded(pid);
    return child.exitCode;
  });
  trackChild(child, 'launcher');
  noteStarted({
    pid,
    name: 'launcher',
    end: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  });
  return {
    pid,
    out: () => out,
    error: () => error,
    ready: async () =>
      waitFor(
        () => {
          if (child.exitCode !== null) return 'ended';
          // A killed predecessor's file may still exist, but the text comes after this launcher's own.
          if (!out.includes('base URL')) return null;
          return JSON.parse(readFileSync(path.join(options.folder, 'ready.json'), 'utf8')) as Ready;
        },
        { withinMs: readyWithinMs, what: 'ready.json', everyMs: 50 },
      ).then((ready) => {
        if (ready === 'ended') throw new Error(`the launcher ended: ${error}`);
        return ready;
      }),
    kill: (signal) => void child.kill(signal),
    killGroup: (signal) => void process.kill(-pid, signal),
    ended,
  };
}

/** A folder for one installation, with its real path, because servers are recognised by it. */
export function installationFolder(): string {
  return realpathSync(mkdtempSync(path.join(os.tmpdir(), 'model-router-local-')));
}

/** Removes the folder, after ending everything that a failed test left running in it. */
export function removeInstallation(folder: string): void {
  for (const { pid } of processesOf(folder)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Every live process that was started for the folder, which appears in its arguments, environment or working
 * folder.
 */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const facts = [() => read(name, 'cmdline'), () => read(name, 'environ'), () => link(name)].map(attempt);
      const isZombie = /^State:\s+Z/m.test(attempt(() => read(name, 'status')));
      if (isZombie || !facts.some((fact) => fact.includes(folder))) return [];
      return [{ pid: Number(name), command: (facts[0] ?? '').replaceAll('\0', ' ') }];
    });
}

/**
 * How long something was left, in ms: until the last look that found something began. Looks are slow on a busy
 * machine, so the duration of the last one must not count.
 */
export async function leftForMs(folder: string): Promise<number> {
  const startedMs = performance.now();
  let leftAtMs = startedMs;
  let commands: string[] = [];
  const isEmpty = () => {
    const lookedAtMs = performance.now();
    commands = processesOf(folder).map(({ command }) => command);
    if (commands.length > 0) leftAtMs = lookedAtMs;
    return commands.length === 0;
  };
  await waitFor(isEmpty, { withinMs: 60_000, what: `the end of all that runs on ${folder}` }).catch(() => {
    throw new Error(`Left for a minute: ${commands.join(', ')}`);
  });
  return leftAtMs - startedMs;
}

export async function nothingLeft(folder: string, withinMs: number): Promise<void> {
  expect(await leftForMs(folder)).toBeLessThanOrEqual(withinMs);
}

const read = (pid: string, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
const link = (pid: string): string => readlinkSync(`/proc/${pid}/cwd`);

/** A process may end while it is being examined. */
function attempt(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
