import { LiveCatalog } from '#catalog';
import {
  createLog,
  createTracing,
  type Log,
  Metrics,
  startInternalServer,
  stopWithParent,
} from '#observability';
import { Database, ProcessRecord, schemaIsCurrent } from '#persistence';
import { createTransport } from '#queue';
import { createStore } from '#storage';
import { createGateway } from './gateway.js';
import { Readiness } from './health/readiness.js';
import { compileAhead } from './models/compile-ahead.js';
import { WakeUps } from './runs/held/wake-ups.js';
import { readGatewaySettings } from './settings.js';
import { stopInOrder } from './stop-in-order.js';

/** A reason not to start that is the operator's to mend. */
export class Refusal extends Error {}

/** Opens what a gateway stands on, listens, and stops in order when asked to. */
export async function startGateway(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readGatewaySettings(env);
  const log = createLog('gateway', settings.LOG_LEVEL);
  const metrics = new Metrics();
  const storage = await createStore(settings, metrics);
  for (const warning of storage.warnings) log.warn({}, warning);
  const database = Database.create(settings);
  const record = new ProcessRecord(database, 'gateway', log);
  const catalog = await LiveCatalog.open({
    directory: settings.CATALOG_DIR,
    builtInRows: true,
    everyMs: settings.CATALOG_POLL_MS,
    prepare: compileAhead,
    report: (state) => record.say(state),
    log,
    metrics,
  });
  await demandCurrentSchema(database);
  metrics.watchPools(() => database.pools());
  const transport = await createTransport(settings, log, metrics);
  const tracing = await createTracing('gateway', settings);
  const app = await createGateway({ settings, log, metrics, tracing, catalog, database, transport, storage });
  const readiness = app.get(Readiness);
  const internal = await startInternalServer(
    { host: settings.INTERNAL_HOST, port: settings.INTERNAL_PORT },
    metrics,
    { ready: () => readiness.ready(), live: () => true },
  );
  await app.listen(settings.PORT, settings.HOST);
  announce(log, await app.getUrl(), catalog.current.models.length, internal.address());

  stopWithParent();
  compileAhead(catalog.current).catch((error: unknown) =>
    log.error({ error }, 'a schema could not be compiled'),
  );
  catalog.watch();
  process.on('SIGHUP', () => void catalog.renew());
  stopInOrder(log, settings.CLOSE_TIMEOUT_MS, [
    async () => readiness.stop(),
    async () => app.get(WakeUps, { strict: false }).stop(),
    () => app.close(),
    () => transport.close(),
    () => storage.store.close(),
    async () => catalog.stop(),
    () => record.stop(),
    () => database.close(),
    () => tracing.close(),
    async () => void internal.close(),
  ]);
}

async function demandCurrentSchema(database: Database): Promise<void> {
  const current = await database
    .dataSource()
    .then(schemaIsCurrent)
    .catch((error: unknown) => {
      throw new Refusal(
        `The database cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  if (!current) throw new Refusal('The database schema is not current: run "admin migrate" first.');
}

function announce(log: Log, url: string, models: number, internal: unknown): void {
  log.info({ url, models, internal }, 'gateway is listening');
}
