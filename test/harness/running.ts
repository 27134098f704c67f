import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { ProcessRecords } from '../../apps/local/src/processes.js';

/** What lasts as long as the whole run of Jest lies below this folder. */
export function runFolder(): string {
  const folder = process.env['TEST_FOLDER'];
  if (!folder) throw new Error('A folder of the run exists only in projects whose set-up makes one.');
  return folder;
}

/** A folder of the run, removed at its end. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(path.join(runFolder(), `${purpose}-`));
}

/** All processes of the run: when Jest is killed, the next run ends what is recorded here. */
export const runRecords = (): ProcessRecords => new ProcessRecords(path.join(runFolder(), 'running'));

interface Process {
  pid: number;
  name: string;
  end: () => Promise<void>;
}

const processes = new Map<number, Process>();
const databases = new Set<string>();

/** For a process that a test starts by itself, and ends. */
export const trackChild = (child: ChildProcess, name: string): void => runRecords().track(child, name);

/** A process that this test file must have ended before its end. */
export const noteStarted = (started: Process): unknown => processes.set(started.pid, started);
export const noteEnded = (pid: number): unknown => processes.delete(pid);

export const noteCreated = (database: string): unknown => databases.add(database);
export const noteDropped = (database: string): unknown => databases.delete(database);

/** Ends all that was started here, and answers the names of what should have been ended before. */
export async function endAll(): Promise<string[]> {
  const left = [...processes.values()];
  const open = [...databases];
  await Promise.all(left.map((each) => each.end()));
  databases.clear();
  return [...left.map((each) => `${each.name} (pid ${each.pid})`), ...open];
}
