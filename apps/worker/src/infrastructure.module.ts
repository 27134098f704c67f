import { ObservabilityModule } from '#observability';
import { DatabaseModule } from '#persistence';
import { QueueModule } from '#queue';
import { StorageModule } from '#storage';
import { Module } from '@nestjs/common';
import type { WorkerSettings } from './settings.js';
import { SETTINGS, SettingsModule } from './settings.module.js';

const withApp = (settings: WorkerSettings) => ({ ...settings, app: 'worker' });

const observability = ObservabilityModule.forRootAsync({
  imports: [SettingsModule],
  inject: [SETTINGS],
  useFactory: withApp,
});

const configured = {
  imports: [SettingsModule, observability],
  inject: [SETTINGS],
  useFactory: withApp,
};
const storage = StorageModule.forRootAsync(configured);
const database = DatabaseModule.forRootAsync(configured);
const queue = QueueModule.forRootAsync(configured);

/** What the worker is built on, each library configured once. */
@Module({
  imports: [SettingsModule, observability, storage, database, queue],
  exports: [SettingsModule, observability, storage, database, queue],
})
export class InfrastructureModule {}
