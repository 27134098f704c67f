import { catalogRoutes } from './catalog-routes.js';
import { queueRoutes } from './queue-routes.js';
import { registryRoutes } from './registry-routes.js';
import type { Route } from './route.js';
import { synchronousRun } from './run-routes.js';
import { serviceRoutes } from './service-routes.js';

/** Every route that a gateway serves, in the order of the reference. A test holds this against the gateway. */
export const routes: readonly Route[] = [
  ...catalogRoutes('v1'),
  ...catalogRoutes('v2'),
  synchronousRun('v1'),
  synchronousRun('v2'),
  ...queueRoutes,
  ...registryRoutes,
  ...serviceRoutes,
];
