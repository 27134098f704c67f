import type { Catalog } from '#catalog';
import { type Log, Metrics } from '#observability';
import { Admissions, Callers, Database, Holding, RunAnswers } from '#persistence';
import type { Transport } from '#queue';
import { type DynamicModule, Module } from '@nestjs/common';
import type { GatewaySettings } from './settings.js';

/** What a gateway is built on; whoever opens these also closes them. */
export interface Resources {
  settings: GatewaySettings;
  log: Log;
  metrics: Metrics;
  catalog: Catalog;
  database: Database;
  transport: Transport;
}

export const SETTINGS = Symbol('settings');
export const LOG = Symbol('log');
export const CATALOG = Symbol('catalog');
export const TRANSPORT = Symbol('transport');

@Module({})
export class ResourcesModule {
  static of({ settings, log, metrics, catalog, database, transport }: Resources): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOG, useValue: log },
      { provide: Metrics, useValue: metrics },
      { provide: CATALOG, useValue: catalog },
      { provide: TRANSPORT, useValue: transport },
      { provide: Database, useValue: database },
      { provide: Callers, useValue: new Callers(database) },
      { provide: Admissions, useValue: new Admissions(database) },
      { provide: RunAnswers, useValue: new RunAnswers(database, settings) },
      { provide: Holding, useValue: new Holding(database) },
    ];
    return { module: ResourcesModule, providers, exports: providers };
  }
}
