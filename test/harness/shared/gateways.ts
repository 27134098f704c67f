import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createDatabase, type TestDatabase } from '../database.js';
import { longTimeouts } from '../long-timeouts.js';
import { temporaryFolder } from '../running.js';
import { newEncryptionKeys } from '#schemas';
import { type App, spawnApp } from '../spawn-app.js';
import {
  described,
  gatewayEnvironment,
  publishGateways,
  recordedRoutes,
  servedRoutesFile,
  trustedProxy,
} from './described.js';
import { openRow } from './open-row.js';

let database: TestDatabase | undefined;
const started: App[] = [];

/**
 * Two gateways on one database for all files of the run. No worker runs; tests move a run through its stages.
 */
export async function startGateways(): Promise<void> {
  database = await createDatabase();
  const assets = temporaryFolder('assets');
  const env = {
    ...gatewayEnvironment(database.url, assets),
    ...longTimeouts,
    // Long timeouts, because a busy machine must not cause rejections.
    BODY_CHECK_TIMEOUT_MS: '60000',
    STORE_PAYLOAD_MS: '60000',
    // Without a worker no signal announces the end of a run, so a held call polls for it.
    SYNC_CHECK_MS: '50',
  };
  const [usual, small] = await Promise.all([
    spawnApp('gateway', {
      ...env,
      ...recordedRoutes(servedRoutesFile()),
      TRUSTED_PROXIES: trustedProxy,
      ENCRYPTION_PUBLIC_KEY: newEncryptionKeys().publicKey,
    }),
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

/** Limits small enough for tests to reach, and caches short enough that tests need not wait for them. */
const smallLimits = (): Record<string, string> => ({
  AUTH_CACHE_MS: '1',
  SYNC_DEADLINE_MS: '500',
  BODY_LIMIT: '10000',
  FILE_LIMIT: '10000',
});

/** A deployment's additions: a public address, and a model of its own. */
function ownDeployment(): Record<string, string> {
  const catalog = temporaryFolder('catalog');
  writeFileSync(path.join(catalog, 'open.yaml'), openRow);
  return { PUBLIC_BASE_URL: 'https://router.example/', CATALOG_DIR: catalog };
}

/** Returns everything that went wrong; dropping the database checks the books. */
export async function stopGateways(): Promise<string[]> {
  const broken: string[] = [];
  await Promise.all(started.map((app) => app.stop()));
  await database?.drop().catch((error: unknown) => broken.push(String(error)));
  return broken;
}
