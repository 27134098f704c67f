import { createDatabase, type TestDatabase } from '../database.js';
import { patience } from '../patience.js';
import { temporaryFolder } from '../running.js';
import { type App, spawnApp } from '../spawn-app.js';
import { gatewayEnvironment, publishGateways } from './described.js';

let database: TestDatabase | undefined;
const started: App[] = [];

/** Limits so small that tests reach them, and caches so short that nothing waits for them. */
const smallLimits = {
  AUTH_CACHE_MS: '1',
  AUTH_REFUSED_CACHE_MS: '1',
  SYNC_DEADLINE_MS: '500',
  SYNC_CHECK_MS: '50',
  BODY_LIMIT: '10000',
  PUBLIC_BASE_URL: 'https://router.example/',
};

/** Two gateways on one database, for all files of the run. No worker runs: tests take a run through its life. */
export async function startGateways(): Promise<void> {
  database = await createDatabase();
  const assets = temporaryFolder('assets');
  const env = { ...gatewayEnvironment(database.url, assets), ...patience };
  const [usual, small] = await Promise.all([
    spawnApp('gateway', env),
    spawnApp('gateway', { ...env, ...smallLimits }),
  ]);
  started.push(usual, small);
  await Promise.all(started.map((app) => app.ready));
  publishGateways({ databaseUrl: database.url, assets, urls: { usual: usual.url, small: small.url } });
}

/** Answers what went wrong: the books are looked at when the database goes. */
export async function stopGateways(): Promise<string[]> {
  const broken: string[] = [];
  await Promise.all(started.map((app) => app.stop()));
  await database?.drop().catch((error: unknown) => broken.push(String(error)));
  return broken;
}
