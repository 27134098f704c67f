import type { Catalog } from '#catalog';
import { type Log, Metrics, type Tracing } from '#observability';
import {
  AdmissionRepository,
  ApiKeyRepository,
  Database,
  HeldRunRepository,
  NodeReader,
  RunReader,
  StoredObjectRepository,
} from '#persistence';
import type { Transport } from '#queue';
import type { OpenedStore } from '#storage';
import { type DynamicModule, Module } from '@nestjs/common';
import type { GatewaySettings } from './settings.js';

/** The catalog of this moment: whoever answers one request asks once. */
export interface RunningCatalog {
  readonly current: Catalog;
}

/** What a gateway is built on; whoever opens these also closes them. */
export interface Resources {
  settings: GatewaySettings;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  catalog: RunningCatalog;
  database: Database;
  transport: Transport;
  storage: OpenedStore;
}

export const SETTINGS = Symbol('settings');
export const LOG = Symbol('log');
export const CATALOG = Symbol('catalog');
export const TRANSPORT = Symbol('transport');
export const STORAGE = Symbol('storage');

@Module({})
export class ResourcesModule {
  static of({ settings, log, metrics, catalog, database, transport, storage }: Resources): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOG, useValue: log },
      { provide: Metrics, useValue: metrics },
      { provide: CATALOG, useValue: catalog },
      { provide: TRANSPORT, useValue: transport },
      { provide: STORAGE, useValue: storage },
      { provide: Database, useValue: database },
      { provide: ApiKeyRepository, useValue: new ApiKeyRepository(database) },
      { provide: AdmissionRepository, useValue: new AdmissionRepository(database) },
      { provide: RunReader, useValue: new RunReader(database, settings) },
      { provide: HeldRunRepository, useValue: new HeldRunRepository(database) },
      { provide: StoredObjectRepository, useValue: new StoredObjectRepository(database) },
      { provide: NodeReader, useValue: new NodeReader(database) },
    ];
    return { module: ResourcesModule, providers, exports: providers };
  }
}
