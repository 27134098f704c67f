import { afterAll, beforeAll } from '@jest/globals';
// Not the harness's index, because loading it takes longer than most files here run.
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { failOnLeftovers } from '../harness/leftovers.js';
import { longTimeouts } from '../harness/long-timeouts.js';
import { temporaryFolder } from '../harness/running.js';
import {
  appOf,
  describedGateways,
  gatewayEnvironment,
  type GatewayKind,
} from '../harness/shared/described.js';
import { type App, spawnApp } from '../harness/spawn-app.js';
import { RouteGateway } from './route-gateway.js';

export { jwtSecret, trustedProxy } from '../harness/shared/described.js';
export type { RouteGateway } from './route-gateway.js';

/** The gateway that all files of the run share: with the usual settings, or with small limits. */
export function sharedGateway(kind: GatewayKind = 'usual'): () => RouteGateway {
  const { gateways, databaseUrl, assets } = describedGateways();
  const gateway = new RouteGateway(appOf(gateways[kind]), databaseUrl, assets);
  afterAll(() => gateway.close());
  return () => gateway;
}

/** Additional environment; it may depend on the address of the database. */
type Settings = Record<string, string> | ((databaseUrl: string) => Promise<Record<string, string>>);

/**
 * A gateway for this file only, on a separate database: for settings and states that would disturb other files.
 */
export function gatewayForFile(env: Settings = {}): () => RouteGateway {
  const gateways = gatewaysForFile(1, env);
  return () => gateways(0);
}

/** Gateways for this file only, each on a separate database. */
function gatewaysForFile(count: number, env: Settings = {}): (index: number) => RouteGateway {
  const started: { app: App; database: TestDatabase; gateway: RouteGateway }[] = [];
  beforeAll(async () => {
    for (let index = 0; index < count; index += 1) {
      const database = await createDatabase();
      const assets = temporaryFolder('assets');
      const app = await spawnApp('gateway', {
        ...gatewayEnvironment(database.url, assets),
        ...longTimeouts,
        ...(typeof env === 'function' ? await env(database.url) : env),
      });
      await app.ready;
      started.push({ app, database, gateway: new RouteGateway(app, database.url, assets) });
    }
  });
  afterAll(async () => {
    for (const { app, database, gateway } of started) {
      await gateway.close();
      await app.stop();
      await database.drop();
    }
  });
  failOnLeftovers();
  return (index) => {
    const gateway = started[index]?.gateway;
    if (gateway === undefined) throw new Error('the gateway did not start');
    return gateway;
  };
}
