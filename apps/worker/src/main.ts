import 'reflect-metadata';
import { BadCatalog, LiveCatalog } from '#catalog';
import { createLog, Metrics, nestLogger, InternalServer, stopWithParent } from '#observability';
import { ClockSkew, Database, schemaIsCurrent } from '#persistence';
import { boardPath, createBoard, type Transport } from '#queue';
import { BadSettings, readSettings } from '#schemas';
import { ShutdownSignal } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Lanes } from './lanes.js';
import { Gauges } from './life/gauges.js';
import { Progress } from './life/progress.js';
import { Retention } from './life/retention.js';
import { workerSettings } from './settings.js';
import { TRANSPORT } from './tokens.js';
import { WorkerModule } from './worker.module.js';

async function start(): Promise<void> {
  stopWithParent();
  const settings = readSettings(workerSettings, process.env);
  const log = createLog('worker', settings.LOG_LEVEL);
  const app = await NestFactory.createApplicationContext(await WorkerModule.with(settings, process.env), {
    logger: nestLogger(log),
  });
  // Not SIGHUP: it asks for the catalog to be read again.
  app.enableShutdownHooks([ShutdownSignal.SIGTERM, ShutdownSignal.SIGINT], { useProcessExit: true });
  const database = app.get(Database);
  if (!(await schemaIsCurrent(await database.dataSource()))) {
    throw new Error('The database schema is not current: run "npm run admin -- migrate" first.');
  }
  const transport = app.get<Transport>(TRANSPORT);
  const metrics = app.get(Metrics);
  metrics.watchPools(() => database.pools());
  const progress = app.get(Progress);
  const clock = app.get(ClockSkew);
  const board = await createBoard(transport, settings);
  const internal = new InternalServer({ ...settings, app: 'worker' }, metrics);
  internal.setProbes({
    ready: async () => clock.problem ?? ((await database.healthy()) && (await transport.healthy())),
    live: () => !progress.wedged,
  });
  if (board) internal.mount(boardPath, board);
  await internal.onApplicationBootstrap();
  app.get(Lanes).start();
  app.get(Retention).start();
  app.get(Gauges).start();
  const catalog = app.get(LiveCatalog);
  catalog.watch();
  process.on('SIGHUP', () => void catalog.renew());
  log.info({ internal: internal.address, transport: transport.kind }, 'worker started');
}

start().catch((error: unknown) => {
  process.stderr.write(
    `worker: ${error instanceof BadSettings || error instanceof BadCatalog ? error.message : String(error)}\n`,
  );
  process.exit(1);
});
