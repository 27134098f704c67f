import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { StartFailure } from './embedded/start-failure.js';

/** Everything that an installation keeps on disk, and where. */
export interface LocalFolder {
  root: string;
  postgres: string;
  redis: string;
  assets: string;
  logs: string;
  /** The running instance. */
  instance: string;
  ready: string;
  secrets: string;
  ports: string;
  demo: string;
  /** What the node registry was filled with. */
  demoRegistry: string;
  simulatorLedger: string;
}

export function prepareFolder(wanted: string): LocalFolder {
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    accessSync(wanted, constants.R_OK | constants.W_OK | constants.X_OK);
    mkdirSync(path.join(wanted, 'logs'), { recursive: true });
    mkdirSync(path.join(wanted, 'assets'), { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartFailure(`The folder ${wanted} cannot be written (${code}): set LOCAL_DIR`, { cause });
  }
  const root = realpathSync(wanted);
  const at = (name: string) => path.join(root, name);
  return {
    root,
    postgres: at('postgres'),
    redis: at('redis'),
    assets: at('assets'),
    logs: at('logs'),
    instance: at('instance.json'),
    ready: at('ready.json'),
    secrets: at('secrets.json'),
    ports: at('ports.json'),
    demo: at('demo.json'),
    demoRegistry: at('demo-registry.json'),
    simulatorLedger: at('simulator-ledger.jsonl'),
  };
}
