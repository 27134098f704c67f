import { ObservabilityModule, type ObservabilityOptions } from '#observability';
import { DatabaseModule, type DatabaseOptions } from '#persistence';
import { QueueModule, type QueueSettings } from '#queue';
import { StorageModule, type StorageSettings } from '#storage';
import { Module } from '@nestjs/common';
import { BacklogGauges } from './backlog-gauges.js';
import { SETTINGS, SettingsModule } from './settings.module.js';
import { StoreIdentity } from './store-identity.js';

type Settings = ObservabilityOptions & DatabaseOptions & QueueSettings & StorageSettings;

const fromSettings = { inject: [SETTINGS], useFactory: (settings: Settings) => settings };
const observability = ObservabilityModule.forRootAsync({ imports: [SettingsModule], ...fromSettings });
const configured = { imports: [SettingsModule, observability], ...fromSettings };
const libraries = [
  SettingsModule,
  observability,
  StorageModule.forRootAsync(configured),
  DatabaseModule.forRootAsync(configured),
  QueueModule.forRootAsync(configured),
];

/** The libraries that the gateway and the worker share, each configured once, and the gauges that both report. */
@Module({
  imports: libraries,
  providers: [BacklogGauges, StoreIdentity],
  exports: [...libraries, StoreIdentity],
})
export class InfrastructureModule {}
