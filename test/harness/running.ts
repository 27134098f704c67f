import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Guard } from '../../apps/local/src/embedded/guard.js';

/** What lasts as long as the whole run of Jest lies below this folder. */
export const runFolder = (): string => process.env['TEST_FOLDER'] ?? '';

interface Process {
  pid: number;
  name: string;
  end: () => Promise<void>;
}

const processes = new Map<number, Process>();
const databases = new Set<string>();
let guard: Guard | undefined;

/** One guard a process of Jest's: what is started here ends with it, even when Jest is killed. */
export function openGuard(): Guard {
  guard ??= Guard.open();
  return guard;
}

/** A folder of the run, removed at its end. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(path.join(runFolder(), `${purpose}-`));
}

export function noteStarted(started: Process): void {
  processes.set(started.pid, started);
  const folder = path.join(runFolder(), 'running');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, String(started.pid)), started.name);
}

export function noteEnded(pid: number): void {
  processes.delete(pid);
  rmSync(path.join(runFolder(), 'running', String(pid)), { force: true });
}

export const noteCreated = (database: string): unknown => databases.add(database);
export const noteDropped = (database: string): unknown => databases.delete(database);

/** Ends all that was started here, and answers the names of what should have been ended before. */
export async function endAll(): Promise<string[]> {
  const left = [...processes.values()];
  const open = [...databases];
  await Promise.all(left.map((each) => each.end()));
  await guard?.close();
  guard = undefined;
  databases.clear();
  return [...left.map((each) => `${each.name} (pid ${each.pid})`), ...open];
}
