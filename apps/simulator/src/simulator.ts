import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance } from 'fastify';
import { addAdminRoutes } from './admin.js';
import { type Clock, createClock } from './clock.js';
import { Ledger } from './ledger/ledger.js';
import { RequestLog, type RecordedRequest } from './request-log.js';
import { addApiRoutes, addAssetRoutes } from './provider-routes.js';
import { providers } from './providers/providers.js';
import { carriesCredential, type Simulation } from './simulation.js';

interface Simulator {
  /** Base addresses of both listeners, without a trailing slash. */
  api: string;
  assets: string;
  close(): Promise<void>;
}

/** Port 0 takes any free port. `defaultMs` is how long a generation takes, unless its prompt says otherwise. */
export async function startSimulator(options: {
  apiPort: number;
  assetPort: number;
  defaultMs: number;
  ledgerFile?: string | undefined;
  clock?: Clock;
}): Promise<Simulator> {
  const simulation: Simulation = {
    clock: options.clock ?? createClock(),
    ledger: new Ledger(options.ledgerFile),
    requests: new RequestLog(),
    attempts: new Map(),
    uploads: new Map(),
    accounts: new Map(),
    traceIds: new Set(),
    defaultMs: options.defaultMs,
    addresses: { api: '', assets: '' },
  };
  const api = createListener();
  const assets = createListener();
  recordRequests(assets, simulation, 'assets');
  assets.addHook('onRequest', async (request, reply) =>
    carriesCredential(request.headers)
      ? reply.code(400).send({ detail: 'simulator: this host must never receive a credential' })
      : undefined,
  );
  await api.register(async (scope) => addAdminRoutes(scope, simulation));
  for (const provider of providers) {
    const prefix = `/${provider.name}`;
    await api.register(
      async (scope) => {
        recordRequests(scope, simulation, 'api');
        addApiRoutes(scope, simulation, provider);
      },
      { prefix },
    );
    await assets.register(async (scope) => addAssetRoutes(scope, simulation, provider), { prefix });
  }
  simulation.addresses.api = await listen(api, options.apiPort);
  simulation.addresses.assets = await listen(assets, options.assetPort);
  return {
    ...simulation.addresses,
    async close() {
      await Promise.all([api.close(), assets.close()]);
      simulation.ledger.close();
    },
  };
}

/** Closing must not wait for replies that hang on purpose. */
function createListener(): FastifyInstance {
  return fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 512 } });
}

async function listen(app: FastifyInstance, port: number): Promise<string> {
  await app.listen({ host: '127.0.0.1', port });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

function recordRequests(app: FastifyInstance, simulation: Simulation, listener: 'api' | 'assets'): void {
  const open = new WeakMap<object, RecordedRequest>();
  app.addHook('onRequest', async (request) => {
    const record: RecordedRequest = {
      atMs: simulation.clock.now(),
      listener,
      method: request.method,
      path: request.url,
      credential: carriesCredential(request.headers),
      ownHeader: Object.keys(request.headers).some((name) => name.startsWith('x-service-')),
      status: null,
    };
    open.set(request, record);
    simulation.requests.add(record);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const record = open.get(request);
    if (record) record.status = reply.statusCode;
    return payload;
  });
}
