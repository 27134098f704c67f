import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Ends the services of the run. A process that a test file left behind fails the run. */
export default async function stop(): Promise<void> {
  const services = globalThis.testServices;
  if (!services) return;
  const left = leftBehind(path.join(services.folder, 'running'));
  await services.guard.close();
  rmSync(services.folder, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`Left running by tests:\n${left.join('\n')}`);
}

/** The harness notes every process that it starts, and takes the note away when the process has ended. */
function leftBehind(folder: string): string[] {
  try {
    return readdirSync(folder).map((pid) => `${pid} ${readFileSync(path.join(folder, pid), 'utf8')}`);
  } catch {
    return [];
  }
}
