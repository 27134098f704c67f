import path from 'node:path';
import { checkout } from '../../../apps/local/src/checkout.js';
import { logFileAt } from '../log-file.js';
import { runFolder } from '../running.js';
import type { App, RunningApp } from '../spawn-app.js';
import type { TransportKind } from '../transports.js';

/** A running app as the run's set-up passes it to the test files: as JSON in the environment. */
interface DescribedApp {
  name: RunningApp['name'];
  url: string;
  internalUrl: string;
  assetUrl?: string;
  logPath: string;
}

export interface DescribedSystem {
  databaseUrl: string;
  redisUrl?: string;
  gateways: DescribedApp[];
  workers: DescribedApp[];
  simulator: DescribedApp;
  env: Record<string, string>;
  assets: string;
  catalog: string;
}

interface DescribedGateways {
  databaseUrl: string;
  assets: string;
  gateways: Record<GatewayKind, DescribedApp>;
}

/** The gateway with the usual settings, or the one whose limits are small enough for tests to reach. */
export type GatewayKind = 'usual' | 'small';

/** All keys that the files of the run gave out, for the check of the logs at its end. */
export const secretsFile = (): string => path.join(runFolder(), 'secrets');

/** The routes that the usual shared gateway serves. */
export const servedRoutesFile = (): string => path.join(runFolder(), 'routes');

/** The environment of a gateway that writes the routes that it serves to a file. */
export const recordedRoutes = (file: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${path.join(checkout, 'test/harness/shared/record-routes.mjs')}`,
  SERVED_ROUTES: file,
});

const variables = { systems: 'TEST_SYSTEMS', gateways: 'TEST_GATEWAYS' };

export function publishSystems(systems: Partial<Record<TransportKind, DescribedSystem>>): void {
  process.env[variables.systems] = JSON.stringify(systems);
}

export function publishGateways(gateways: DescribedGateways): void {
  process.env[variables.gateways] = JSON.stringify(gateways);
}

export function describedSystem(transport: TransportKind): DescribedSystem {
  const systems = JSON.parse(process.env[variables.systems] ?? '{}') as Record<string, DescribedSystem>;
  const system = systems[transport];
  if (!system) throw new Error(`No shared system runs on ${transport}: run the file in the project "system"`);
  return system;
}

export function describedGateways(): DescribedGateways {
  const text = process.env[variables.gateways];
  if (text === undefined) throw new Error('No shared gateway runs: run the file in the project "routes"');
  return JSON.parse(text) as DescribedGateways;
}

export const described = ({ name, url, internalUrl, assetUrl, logPath }: App): DescribedApp => ({
  name,
  url,
  internalUrl,
  ...(assetUrl !== undefined && { assetUrl }),
  logPath,
});

export const appOf = ({ logPath, assetUrl, ...app }: DescribedApp): RunningApp => ({
  ...app,
  assetUrl,
  logs: () => logFileAt(logPath).read(),
});

/** The only address whose forwarded headers the usual gateway trusts, so that tests can call from it. */
export const trustedProxy = '127.0.0.2';

/** Where Google's video models store their results in the shared systems. */
export const ownStorage = 'gs://router-clips/veo';

export const jwtSecret = 'a-secret-of-tests-for-access-tokens-00';

/** The environment of a gateway without worker and providers. */
export const gatewayEnvironment = (databaseUrl: string, assets: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  JWT_SECRET: jwtSecret,
  SIGNING_SECRET: 'a-secret-of-tests-for-cursors-00000000',
  ASSET_BASE_URL: 'http://assets.test',
  ASSET_DIR: assets,
});
