import { rmSync } from 'node:fs';
import type { Cleanup } from './cleanup.js';
import { acquireInstanceLock } from './instance-lock.js';
import { type LocalFolder, prepareLocalFolder, readOrMakeSecrets, type Secrets } from './local-folder.js';
import { assertPortFree, choosePorts, type Ports } from './ports.js';
import { ProcessRecords } from './processes.js';
import type { LocalSettings } from './settings.js';

/** What a start is given. */
export interface StartOptions {
  env: NodeJS.ProcessEnv;
  settings: LocalSettings;
  /** Where the installation is to be. */
  localDir: string;
  cleanup: Cleanup;
  /** Aborts when the launcher was asked to stop while it starts. */
  signal: AbortSignal;
  show: (text: string) => void;
  showError: (line: string) => void;
}

/** What every part of the installation is started with. */
export interface LocalContext extends StartOptions {
  folder: LocalFolder;
  secrets: Secrets;
  ports: Ports;
  records: ProcessRecords;
}

/** The folder is this launcher's alone from here on, and nothing of a killed one runs on it any more. */
export async function openLocalContext(options: StartOptions): Promise<LocalContext> {
  const folder = prepareLocalFolder(options.localDir);
  options.cleanup.add(acquireInstanceLock(folder.instance));
  rmSync(folder.ready, { force: true });
  const records = new ProcessRecords(folder.running);
  await records.endAll();
  // Also what is still on its way up when the launcher is asked to stop.
  options.cleanup.add(() => records.endAll());
  await assertPortFree(options.settings);
  const secrets = readOrMakeSecrets(folder.secrets);
  return { ...options, folder, records, secrets, ports: await choosePorts(folder.ports) };
}
