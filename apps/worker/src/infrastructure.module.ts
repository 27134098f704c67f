import { StartupError } from '#errors';
import { type Log, LOG, Metrics, ObservabilityModule } from '#observability';
import {
  Database,
  DatabaseClock,
  OutboxRepository,
  ProcessRecord,
  ProviderPauseRepository,
  RetentionRepository,
  RunRepository,
  schemaIsCurrent,
  StoredObjectRepository,
} from '#persistence';
import { QueueModule } from '#queue';
import { StorageModule } from '#storage';
import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { SETTINGS, SettingsModule } from './settings.module.js';
import type { WorkerSettings } from './settings.js';

const observability = ObservabilityModule.forRootAsync({
  imports: [SettingsModule],
  inject: [SETTINGS],
  useFactory: (settings: WorkerSettings) => ({ ...settings, app: 'worker' }),
});

const configured = {
  imports: [SettingsModule, observability],
  inject: [SETTINGS],
  useFactory: (settings: WorkerSettings) => settings,
};
const storage = StorageModule.forRootAsync(configured);
const queue = QueueModule.forRootAsync(configured);

const repositories = [OutboxRepository, ProviderPauseRepository, RunRepository, StoredObjectRepository];

@Module({
  imports: [SettingsModule, observability],
  providers: [
    {
      provide: Database,
      inject: [SETTINGS],
      useFactory: (settings: WorkerSettings) => new Database(settings),
    },
    ...repositories.map((Repository) => ({
      provide: Repository,
      inject: [Database],
      useFactory: (database: Database) => new Repository(database),
    })),
    {
      provide: RetentionRepository,
      inject: [Database, SETTINGS],
      useFactory: (database: Database, settings: WorkerSettings) =>
        new RetentionRepository(database, settings),
    },
    {
      provide: ProcessRecord,
      inject: [Database, LOG],
      useFactory: (database: Database, log: Log) => new ProcessRecord(database, 'worker', log),
    },
    {
      provide: DatabaseClock,
      inject: [Database, LOG],
      useFactory: (database: Database, log: Log) => new DatabaseClock(database, log),
    },
  ],
  exports: [Database, ...repositories, RetentionRepository, ProcessRecord, DatabaseClock],
})
class BackendModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly record: ProcessRecord,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    const current = await schemaIsCurrent(this.database);
    if (!current)
      throw new StartupError(
        'worker: The database schema is not current: run "npm run admin -- migrate" first.',
      );
    this.metrics.watchPools(() => this.database.pools());
    await this.clock.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.clock.stop();
    await this.record.stop();
    await this.database.close();
  }
}

/** What the worker is built on, each library configured once. */
@Module({
  imports: [SettingsModule, observability, BackendModule, storage, queue],
  exports: [SettingsModule, observability, BackendModule, storage, queue],
})
export class InfrastructureModule {}
