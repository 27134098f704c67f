import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './json-file.js';
import { StartFailure } from './start-failure.js';

export type LocalFolder = ReturnType<typeof prepareLocalFolder>;

/** Everything that an installation keeps on disk, and where. */
export function prepareLocalFolder(wanted: string) {
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    accessSync(wanted, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of ['logs', 'assets']) mkdirSync(path.join(wanted, name), { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartFailure(`The folder ${wanted} cannot be written (${code}): set LOCAL_DIR`, { cause });
  }
  const root = realpathSync(wanted);
  const at = (name: string) => path.join(root, name);
  return {
    postgres: at('postgres'),
    redis: at('redis'),
    assets: at('assets'),
    /** One log a process. */
    logOf: (name: string) => path.join(root, 'logs', `${name}.log`),
    /** Names the running launcher. */
    instance: at('instance.json'),
    /** What the running launcher has started. */
    running: at('running'),
    ready: at('ready.json'),
    /** What operator's commands need, as `npm run admin` finds it. */
    adminEnv: at('admin.env'),
    secrets: at('secrets.json'),
    ports: at('ports.json'),
    demo: at('demo.json'),
    demoRegistry: at('demo-registry.json'),
    simulatorLedger: at('simulator-ledger.jsonl'),
  };
}

const secretsSchema = z.object({
  signing: z.string(),
  jwt: z.string(),
  postgres: z.string(),
  redis: z.string(),
});

export type Secrets = z.infer<typeof secretsSchema>;

/** Made once for an installation: a new signing secret would void every URL that was handed out. */
export function readOrMakeSecrets(file: string): Secrets {
  const kept = readJsonFile(file, secretsSchema);
  if (kept) return kept;
  const made = { signing: secret(), jwt: secret(), postgres: secret(), redis: secret() };
  writeJsonFile(file, made);
  return made;
}

const secret = (): string => randomBytes(32).toString('hex');
