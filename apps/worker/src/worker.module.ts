import { LiveCatalog } from '#catalog';
import { createLog, createTracing, Metrics } from '#observability';
import {
  Database,
  ClockSkew,
  OutboxRepository,
  RunRepository,
  ProcessRecord,
  ProviderPauseRepository,
  StoredObjectRepository,
  RetentionRepository,
} from '#persistence';
import { createTransport } from '#queue';
import { createStore, measuredStore } from '#storage';
import { type DynamicModule, Module } from '@nestjs/common';
import { AssetSource } from './assets/asset-source.js';
import { AssetCopying } from './assets/copying.js';
import { ByteBudget } from './bytes/byte-budget.js';
import { Payloads } from './bytes/payloads.js';
import { Doors } from './calls/doors.js';
import { PartnerClient } from './calls/partner-client.js';
import { ReplyReader } from './calls/reply-reader.js';
import { Lanes } from './lanes.js';
import { Dispatch } from './life/dispatch.js';
import { Gauges } from './life/gauges.js';
import { Isolation } from './life/isolation.js';
import { Leases } from './life/leases.js';
import { Outcomes } from './life/outcomes.js';
import { PartnerAsks } from './life/partner-asks.js';
import { Polling } from './life/poll.js';
import { Progress } from './life/progress.js';
import { Results } from './life/results.js';
import { Retention } from './life/retention.js';
import { StoreUpkeep } from './life/store-upkeep.js';
import { Sweep } from './life/sweep.js';
import { openCatalog } from './open-catalog.js';
import { Providers } from './providers.js';
import type { WorkerSettings } from './settings.js';
import { ShutDown } from './shut-down.js';
import { STORAGE, TRACING, TRANSPORT } from './tokens.js';

@Module({})
export class WorkerModule {
  /** Builds the worker from the outside in: what it stands on, what it calls, what it does with a run. */
  static async with(settings: WorkerSettings, env: NodeJS.ProcessEnv): Promise<DynamicModule> {
    const log = createLog('worker', settings.LOG_LEVEL);
    const metrics = new Metrics();
    const tracing = await createTracing('worker', settings);
    const storage = await createStore(settings);
    for (const warning of storage.warnings) log.warn({}, warning);
    const store = measuredStore(storage.store, metrics.storeSeconds);
    const database = Database.create(settings);
    const record = new ProcessRecord(database, { app: 'worker' }, log);
    const providers = new Providers(env, settings.PROVIDER_KEYS_DIR, metrics, log);
    const catalog = await openCatalog(settings, providers, record, metrics, log);
    const transport = await createTransport(settings, log, metrics);

    const clock = new ClockSkew(database, metrics, log);
    const dispatching = new RunRepository(database);
    const deliveries = new OutboxRepository(database);
    const objects = new StoredObjectRepository(database);
    const pauses = new ProviderPauseRepository(database);

    const doors = new Doors(settings);
    const budget = new ByteBudget(settings.WORKER_BODY_BUDGET);
    const payloads = new Payloads(store, objects, settings, log);
    const client = new PartnerClient(doors, payloads, settings, metrics);

    const replies = new ReplyReader(settings.REPLY_READ_MS);

    const leases = new Leases(dispatching, settings.CLAIM_LEASE_MS, log);
    const isolation = new Isolation();
    const outcomes = new Outcomes(dispatching, transport, metrics, log);
    const results = new Results(dispatching, payloads, outcomes, transport, log);
    const asks = new PartnerAsks(pauses, settings, metrics, log);
    const shared = {
      dispatching,
      isolation,
      outcomes,
      results,
      asks,
      payloads,
      budget,
      client,
      replies,
      tracing,
      metrics,
      log,
    };
    const dispatch = new Dispatch({ ...shared, leases, transport }, settings);
    const polling = new Polling({ ...shared, providers }, settings);
    const source = new AssetSource(doors, settings);
    const copying = new AssetCopying({ ...shared, store, source, providers }, settings);

    const sweep = new Sweep(deliveries, transport, settings.SWEEP_EVERY_MS, metrics, log);
    const upkeep = new RetentionRepository(database, settings);
    const storeUpkeep = new StoreUpkeep(store, objects, settings.STORE_DOUBT_SECONDS);
    const retention = new Retention(upkeep, storeUpkeep, settings.RETENTION_EVERY_MS, log);
    const progress = new Progress();
    const gauges = new Gauges(
      { deliveries, pauses, objects, transport, progress },
      settings.GAUGES_EVERY_MS,
      metrics,
      log,
    );
    const lanes = new Lanes(
      { transport, providers, dispatch, polling, copying, leases, sweep, progress },
      settings,
    );

    return {
      module: WorkerModule,
      providers: [
        { provide: LiveCatalog, useValue: catalog },
        { provide: ProcessRecord, useValue: record },
        { provide: TRANSPORT, useValue: transport },
        { provide: STORAGE, useValue: storage },
        { provide: TRACING, useValue: tracing },
        { provide: Metrics, useValue: metrics },
        { provide: Database, useValue: database },
        { provide: ClockSkew, useValue: clock },
        { provide: Doors, useValue: doors },
        { provide: ReplyReader, useValue: replies },
        { provide: Retention, useValue: retention },
        { provide: Progress, useValue: progress },
        { provide: Gauges, useValue: gauges },
        { provide: Lanes, useValue: lanes },
        ShutDown,
      ],
    };
  }
}
