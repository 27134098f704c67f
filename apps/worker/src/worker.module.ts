import { createLog, type Log, Metrics } from '#observability';
import { Database, DatabaseClock, Deliveries, Dispatching, Upkeep } from '#persistence';
import { bindProviders, type BoundProvider } from '#providers';
import { createTransport, type Transport } from '#queue';
import { type DynamicModule, Module } from '@nestjs/common';
import { PartnerClient } from './calls/partner-client.js';
import { Lanes } from './lanes.js';
import { Dispatch } from './life/dispatch.js';
import { Gauges } from './life/gauges.js';
import { Isolation } from './life/isolation.js';
import { Leases } from './life/leases.js';
import { Outcomes } from './life/outcomes.js';
import { Polling } from './life/poll.js';
import { Progress } from './life/progress.js';
import { Retention } from './life/retention.js';
import { Sweep } from './life/sweep.js';
import type { WorkerSettings } from './settings.js';
import { ShutDown } from './shut-down.js';
import { LOG, PROVIDERS, SETTINGS, TRANSPORT } from './tokens.js';

type Providers = ReadonlyMap<string, BoundProvider>;

@Module({})
export class WorkerModule {
  static with(settings: WorkerSettings, env: NodeJS.ProcessEnv): DynamicModule {
    return {
      module: WorkerModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: LOG, useFactory: () => createLog('worker', settings.LOG_LEVEL) },
        {
          provide: PROVIDERS,
          inject: [LOG],
          useFactory: (log: Log): Providers => {
            const { providers, withoutKey } = bindProviders(env);
            if (withoutKey.length > 0)
              log.warn({ providers: withoutKey }, 'no key is set for these providers');
            return providers;
          },
        },
        {
          provide: TRANSPORT,
          inject: [LOG, Metrics],
          useFactory: (log: Log, metrics: Metrics): Promise<Transport> =>
            createTransport(settings, log, metrics),
        },
        Metrics,
        { provide: Progress, useFactory: () => new Progress() },
        { provide: Database, useFactory: () => new Database(settings) },
        {
          provide: DatabaseClock,
          inject: [Database, LOG],
          useFactory: (database: Database, log: Log) => new DatabaseClock(database, log),
        },
        {
          provide: Dispatching,
          inject: [Database],
          useFactory: (database: Database) => new Dispatching(database),
        },
        {
          provide: Deliveries,
          inject: [Database],
          useFactory: (database: Database) => new Deliveries(database),
        },
        {
          provide: Upkeep,
          inject: [Database],
          useFactory: (database: Database) => new Upkeep(database, settings),
        },
        {
          provide: Retention,
          inject: [Upkeep, LOG],
          useFactory: (upkeep: Upkeep, log: Log) => new Retention(upkeep, settings.RETENTION_EVERY_MS, log),
        },
        {
          provide: PartnerClient,
          inject: [Metrics],
          useFactory: (metrics: Metrics) => new PartnerClient(settings, metrics),
        },
        {
          provide: Leases,
          inject: [Dispatching, LOG],
          useFactory: (dispatching: Dispatching, log: Log) =>
            new Leases(dispatching, settings.CLAIM_LEASE_MS, log),
        },
        {
          provide: Outcomes,
          inject: [Dispatching, TRANSPORT, Metrics, LOG],
          useFactory: (dispatching: Dispatching, transport: Transport, metrics: Metrics, log: Log) =>
            new Outcomes(dispatching, transport, metrics, log),
        },
        { provide: Isolation, useFactory: () => new Isolation() },
        {
          provide: Dispatch,
          inject: [Dispatching, Isolation, Leases, Outcomes, PartnerClient, TRANSPORT, Metrics, LOG],
          useFactory: (
            dispatching: Dispatching,
            isolation: Isolation,
            leases: Leases,
            outcomes: Outcomes,
            client: PartnerClient,
            transport: Transport,
            metrics: Metrics,
            log: Log,
          ) =>
            new Dispatch(dispatching, isolation, leases, outcomes, client, transport, settings, metrics, log),
        },
        {
          provide: Polling,
          inject: [Dispatching, Isolation, Outcomes, PartnerClient, PROVIDERS, LOG],
          useFactory: (
            dispatching: Dispatching,
            isolation: Isolation,
            outcomes: Outcomes,
            client: PartnerClient,
            providers: Providers,
            log: Log,
          ) => new Polling(dispatching, isolation, outcomes, client, providers, settings, log),
        },
        {
          provide: Sweep,
          inject: [Deliveries, TRANSPORT, Metrics, LOG],
          useFactory: (deliveries: Deliveries, transport: Transport, metrics: Metrics, log: Log) =>
            new Sweep(deliveries, transport, settings.SWEEP_EVERY_MS, metrics, log),
        },
        {
          provide: Gauges,
          inject: [Deliveries, TRANSPORT, Progress, Metrics, LOG],
          useFactory: (
            deliveries: Deliveries,
            transport: Transport,
            progress: Progress,
            metrics: Metrics,
            log: Log,
          ) => new Gauges(deliveries, transport, progress, settings.GAUGES_EVERY_MS, metrics, log),
        },
        {
          provide: Lanes,
          inject: [TRANSPORT, PROVIDERS, Dispatch, Polling, Leases, Sweep, Progress],
          useFactory: (
            transport: Transport,
            providers: Providers,
            dispatch: Dispatch,
            polling: Polling,
            leases: Leases,
            sweep: Sweep,
            progress: Progress,
          ) => new Lanes(transport, providers, dispatch, polling, leases, sweep, progress, settings),
        },
        ShutDown,
      ],
    };
  }
}
