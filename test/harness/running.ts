import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { ProcessRecords } from '../../apps/local/src/processes.js';

/** The folder for everything that lasts as long as the Jest run. */
export function runFolder(): string {
  const folder = process.env['TEST_FOLDER'];
  if (!folder) throw new Error('Only projects whose set-up creates a folder for the run have one.');
  return folder;
}

/** A folder that is removed at the end of the run. */
export function temporaryFolder(purpose: string): string {
  return mkdtempSync(path.join(runFolder(), `${purpose}-`));
}

/** All processes of the run: if Jest is killed, the next run ends the processes recorded here. */
export const runRecords = (): ProcessRecords => new ProcessRecords(path.join(runFolder(), 'running'));

interface Process {
  pid: number;
  name: string;
  end: () => Promise<void>;
}

const processes = new Map<number, Process>();
const databases = new Set<string>();

/** For a process that a test starts and ends itself. */
export const trackChild = (child: ChildProcess, name: string): void => runRecords().track(child, name);

/** Records a process that this test file has to end. */
export const noteStarted = (started: Process): unknown => processes.set(started.pid, started);
export const noteEnded = (pid: number): unknown => processes.delete(pid);

export const noteCreated = (database: string): unknown => databases.add(database);
export const noteDropped = (database: string): unknown => databases.delete(database);

/** Ends everything that was started here, and returns the names of what should have been ended already. */
export async function endAll(): Promise<string[]> {
  const left = [...processes.values()];
  const open = [...databases];
  await Promise.all(left.map((each) => each.end()));
  databases.clear();
  return [...left.map((each) => `${each.name} (pid ${each.pid})`), ...open];
}
