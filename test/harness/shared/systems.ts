import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { holdToInvariants } from '../oracle.js';
import { runFolder } from '../running.js';
import { System } from '../system.js';
import { type TransportKind, transports } from '../transports.js';
import { described, type DescribedSystem, ownStorage, publishSystems, secretsFile } from './described.js';
import { openRow } from './open-row.js';

const started: System[] = [];

/** One system per transport, for all files of the run. */
export async function startSystems(): Promise<void> {
  const facts = await Promise.all(transports().map(async (kind) => [kind, await startSystem(kind)] as const));
  publishSystems(Object.fromEntries(facts));
}

async function startSystem(transport: TransportKind): Promise<DescribedSystem> {
  const catalog = path.join(runFolder(), `catalog-${transport}`);
  mkdirSync(catalog);
  writeFileSync(path.join(catalog, 'open.yaml'), openRow);
  const keys = path.join(runFolder(), `keys-${transport}`);
  mkdirSync(keys);
  const system = await System.start({
    transport,
    gateways: 2,
    issuedKeys: true,
    env: {
      CATALOG_DIR: catalog,
      CATALOG_POLL_MS: '200',
      PROVIDER_KEYS_DIR: keys,
      // Some providers require ten seconds between polls; the simulated ones do not.
      PROVIDER_POLL_PAUSE_MS: '300',
      PROVIDER_GOOGLE_STORAGE_URI: ownStorage,
    },
  });
  started.push(system);
  return {
    databaseUrl: system.database.url,
    ...(system.redis && { redisUrl: system.redis.url }),
    gateways: system.gateways.map(described),
    workers: system.workers.map(described),
    simulator: described(system.simulator),
    env: system.env(),
    assets: system.assets,
    catalog,
  };
}

/** Checks the invariants over the whole run, and stops the systems. Returns the broken rules. */
export async function stopSystems(): Promise<string[]> {
  const secrets = existsSync(secretsFile())
    ? readFileSync(secretsFile(), 'utf8').split('\n').filter(Boolean)
    : [];
  const broken: string[] = [];
  for (const system of started) {
    system.secrets.push(...secrets);
    for (const step of [() => holdToInvariants(system), () => system.stop()]) {
      await step().catch((error: unknown) => broken.push(String(error)));
    }
  }
  return broken;
}
