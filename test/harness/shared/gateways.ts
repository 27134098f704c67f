import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createDatabase, type TestDatabase } from '../database.js';
import { longTimeouts } from '../long-timeouts.js';
import { temporaryFolder } from '../running.js';
import { type App, spawnApp } from '../spawn-app.js';
import { described, gatewayEnvironment, publishGateways, trustedProxy } from './described.js';
import { openRow } from './open-row.js';

let database: TestDatabase | undefined;
const started: App[] = [];

/** Two gateways on one database, for all files of the run. No worker runs: tests take a run through its life. */
export async function startGateways(): Promise<void> {
  database = await createDatabase();
  const assets = temporaryFolder('assets');
  const env = {
    ...gatewayEnvironment(database.url, assets),
    ...longTimeouts,
    // A busy machine refuses nothing here.
    BODY_CHECK_TIMEOUT_MS: '60000',
    STORE_PAYLOAD_MS: '60000',
    // Nobody announces the end of a run: a held call finds it by looking.
    SYNC_CHECK_MS: '50',
  };
  const [usual, small] = await Promise.all([
    spawnApp('gateway', { ...env, TRUSTED_PROXIES: trustedProxy }),
    spawnApp('gateway', { ...env, ...smallLimits(), ...ownDeployment() }),
  ]);
  started.push(usual, small);
  await Promise.all(started.map((app) => app.ready));
  publishGateways({
    databaseUrl: database.url,
    assets,
    gateways: { usual: described(usual), small: described(small) },
  });
}

/** Limits so small that tests reach them, and caches so short that nothing waits for them. */
const smallLimits = (): Record<string, string> => ({
  AUTH_CACHE_MS: '1',
  SYNC_DEADLINE_MS: '500',
  BODY_LIMIT: '10000',
  FILE_LIMIT: '10000',
});

/** What a deployment adds: an address by which callers know it, and a model of its own. */
function ownDeployment(): Record<string, string> {
  const catalog = temporaryFolder('catalog');
  writeFileSync(path.join(catalog, 'open.yaml'), openRow);
  return { PUBLIC_BASE_URL: 'https://router.example/', CATALOG_DIR: catalog };
}

/** Answers what went wrong: the books are looked at when the database goes. */
export async function stopGateways(): Promise<string[]> {
  const broken: string[] = [];
  await Promise.all(started.map((app) => app.stop()));
  await database?.drop().catch((error: unknown) => broken.push(String(error)));
  return broken;
}
