import { afterAll } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Guard } from '../../apps/local/src/embedded/guard.js';

const runFolder = process.env['TEST_FOLDER'] ?? '';

interface Process {
  pid: number;
  name: string;
  end: () => Promise<void>;
}

const processes = new Map<number, Process>();
const databases = new Set<string>();
let guard: Guard | undefined;

/** One guard a test file: what the file starts ends with it, even when Jest is killed. */
export function fileGuard(): Guard {
  guard ??= Guard.open();
  return guard;
}

/** A folder of the run, removed at its end. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(path.join(runFolder, `${purpose}-`));
}

export function noteStarted(started: Process): void {
  processes.set(started.pid, started);
  const folder = path.join(runFolder, 'running');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, String(started.pid)), started.name);
}

export function noteEnded(pid: number): void {
  processes.delete(pid);
  rmSync(path.join(runFolder, 'running', String(pid)), { force: true });
}

export const noteCreated = (database: string): unknown => databases.add(database);
export const noteDropped = (database: string): unknown => databases.delete(database);

/**
 * Registers the check that nothing which this file started still runs: call it after the file's own
 * `afterAll` hooks, since they run in the order of registration. It ends what it finds, and fails.
 */
export function failOnLeftovers(): void {
  afterAll(async () => {
    const left = [...processes.values()];
    const open = [...databases];
    await Promise.all(left.map((each) => each.end()));
    await guard?.close();
    guard = undefined;
    databases.clear();
    const names = [...left.map((each) => `${each.name} (pid ${each.pid})`), ...open];
    if (names.length > 0) throw new Error(`Left behind by this file: ${names.join(', ')}`);
  });
}
