import { afterAll, beforeAll } from '@jest/globals';
import {
  type App,
  createDatabase,
  failOnLeftovers,
  patience,
  spawnApp,
  temporaryFolder,
  type TestDatabase,
} from '../harness/index.js';
import { describedGateways, gatewayEnvironment, type GatewayKind } from '../harness/shared/described.js';
import { RouteGateway } from './route-gateway.js';

export { jwtSecret, type RouteGateway } from './route-gateway.js';

/** The gateway that all files of the run share: with the usual settings, or with small limits. */
export function sharedGateway(kind: GatewayKind = 'usual'): () => RouteGateway {
  const { urls, databaseUrl, assets } = describedGateways();
  const gateway = new RouteGateway(urls[kind], databaseUrl, assets);
  afterAll(() => gateway.close());
  return () => gateway;
}

/** A gateway for this file alone, on a database of its own: for settings and states that others must not see. */
export function gatewayForFile(env: Record<string, string> = {}): () => RouteGateway {
  const gateways = gatewaysForFile(1, env);
  return () => gateways(0);
}

/** Gateways for this file alone, each on a database of its own. */
function gatewaysForFile(count: number, env: Record<string, string> = {}): (index: number) => RouteGateway {
  const started: { app: App; database: TestDatabase; gateway: RouteGateway }[] = [];
  beforeAll(async () => {
    for (let index = 0; index < count; index += 1) {
      const database = await createDatabase();
      const assets = temporaryFolder('assets');
      const app = await spawnApp('gateway', {
        ...gatewayEnvironment(database.url, assets),
        ...patience,
        ...env,
      });
      await app.ready;
      started.push({ app, database, gateway: new RouteGateway(app.url, database.url, assets) });
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
