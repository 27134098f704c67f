import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newEncryptionKeys } from '#schemas';
import { z } from 'zod';
import { checkout } from './checkout.js';
import { readJsonFile, writeJsonFile } from './json-file.js';
import { assertPortFree, choosePorts, type Ports } from './ports.js';
import { acquireInstanceLock, ProcessRecords } from './processes.js';
import type { LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';

/** Everything that the parts of the installation need to start. */
export interface Installation {
  /** The environment of the user who starts it. */
  env: NodeJS.ProcessEnv;
  settings: LocalSettings;
  folder: LocalFolder;
  secrets: Secrets;
  ports: Ports;
  records: ProcessRecords;
  /** Stops all running processes, the apps before the servers that they use, and releases the folder. */
  close: (starting: Promise<unknown>) => Promise<void>;
}

/** Takes exclusive possession of the folder, and stops processes that a killed launcher left behind. */
export async function openInstallation(
  env: NodeJS.ProcessEnv,
  settings: LocalSettings,
): Promise<Installation> {
  const folder = prepareLocalFolder(path.resolve(settings.LOCAL_DIR ?? path.join(checkout, '.local')));
  const release = acquireInstanceLock(folder.instance);
  const records = new ProcessRecords(folder.running);
  try {
    rmSync(folder.ready, { force: true });
    await records.endAll();
    await assertPortFree(settings);
    const secrets = readOrMakeSecrets(folder.secrets);
    const ports = await choosePorts(folder.ports);
    const close = async (starting: Promise<unknown>) => {
      await records.endAll(['gateway', 'worker']);
      await records.endAll();
      // A part that was about to start has started by now.
      await Promise.race([starting.catch(() => {}), pause(1_000)]);
      await records.endAll();
      rmSync(folder.ready, { force: true });
      release();
    };
    return { env, settings, folder, secrets, ports, records, close };
  } catch (error) {
    release();
    throw error;
  }
}

type LocalFolder = ReturnType<typeof prepareLocalFolder>;

/** Creates the folder and returns the paths of everything that an installation keeps in it. */
function prepareLocalFolder(wanted: string) {
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    accessSync(wanted, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of ['logs', 'assets']) mkdirSync(path.join(wanted, name), { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartFailure(
      `The folder ${wanted} is not writable (${code}). Set LOCAL_DIR to another folder.`,
      { cause },
    );
  }
  const root = realpathSync(wanted);
  const at = (name: string) => path.join(root, name);
  return {
    root,
    postgres: at('postgres'),
    redis: at('redis'),
    assets: at('assets'),
    /** One log file per process. */
    logOf: (name: string) => path.join(root, 'logs', `${name}.log`),
    /** Identifies the running launcher. */
    instance: at('instance.json'),
    /** One file for each process that the running launcher has started. */
    running: at('running'),
    ready: at('ready.json'),
    /** Settings for the operator's commands, which `npm run admin` reads. */
    adminEnv: at('admin.env'),
    secrets: at('secrets.json'),
    ports: at('ports.json'),
    demo: at('demo.json'),
    simulatorLedger: at('simulator-ledger.jsonl'),
  };
}

const secretsSchema = z.object({
  signing: z.string(),
  jwt: z.string(),
  postgres: z.string(),
  redis: z.string(),
  // Absent in a folder of an earlier release.
  encryption: z.object({ publicKey: z.string(), privateKey: z.string() }).optional(),
});

type Secrets = Required<z.infer<typeof secretsSchema>>;

/** Creates the secrets once, because a new signing secret would invalidate every URL issued so far. */
function readOrMakeSecrets(file: string): Secrets {
  const kept = readJsonFile(file, secretsSchema);
  if (kept?.encryption) return { ...kept, encryption: kept.encryption };
  const fresh = { signing: secret(), jwt: secret(), postgres: secret(), redis: secret() };
  const made = { ...fresh, ...kept, encryption: newEncryptionKeys() };
  writeJsonFile(file, made);
  return made;
}

const secret = (): string => randomBytes(32).toString('hex');
