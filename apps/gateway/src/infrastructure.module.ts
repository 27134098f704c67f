import { StartupError } from '#errors';
import { type Log, LOG, Metrics, ObservabilityModule } from '#observability';
import {
  AdmissionRepository,
  ApiKeyRepository,
  Database,
  HeldRunRepository,
  NodeReader,
  ProcessRecord,
  RunReader,
  schemaIsCurrent,
  StoredObjectRepository,
} from '#persistence';
import { createTransport, type Transport } from '#queue';
import { StorageModule } from '#storage';
import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { GatewaySettings } from './settings.js';
import { SETTINGS, SettingsModule } from './settings.module.js';

export const TRANSPORT = Symbol('transport');

const configured = { imports: [SettingsModule], inject: [SETTINGS] };

const observability = ObservabilityModule.forRootAsync({
  ...configured,
  useFactory: (settings: GatewaySettings) => ({ ...settings, app: 'gateway' }),
});

const storage = StorageModule.forRootAsync({
  imports: [SettingsModule, observability],
  inject: [SETTINGS],
  useFactory: (settings: GatewaySettings) => settings,
});

const repositories = [
  AdmissionRepository,
  ApiKeyRepository,
  HeldRunRepository,
  NodeReader,
  StoredObjectRepository,
];

@Module({
  imports: [SettingsModule, observability],
  providers: [
    {
      provide: Database,
      inject: [SETTINGS],
      useFactory: (settings: GatewaySettings) => new Database(settings),
    },
    ...repositories.map((Repository) => ({
      provide: Repository,
      inject: [Database],
      useFactory: (database: Database) => new Repository(database),
    })),
    {
      provide: RunReader,
      inject: [Database, SETTINGS],
      useFactory: (database: Database, settings: GatewaySettings) => new RunReader(database, settings),
    },
    {
      provide: ProcessRecord,
      inject: [Database, LOG],
      useFactory: (database: Database, log: Log) => new ProcessRecord(database, 'gateway', log),
    },
    {
      provide: TRANSPORT,
      inject: [SETTINGS, LOG, Metrics],
      useFactory: (settings: GatewaySettings, log: Log, metrics: Metrics) =>
        createTransport(settings, log, metrics),
    },
  ],
  exports: [Database, ...repositories, RunReader, ProcessRecord, TRANSPORT],
})
class BackendModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    private readonly record: ProcessRecord,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    const current = await schemaIsCurrent(this.database).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartupError(`The database cannot be reached: ${reason}`);
    });
    if (!current) throw new StartupError('The database schema is not current: run "admin migrate" first.');
    this.metrics.watchPools(() => this.database.pools());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
    await this.record.stop();
    await this.database.close();
  }
}

/** What the gateway is built on, each library configured once. */
@Module({
  imports: [SettingsModule, observability, storage, BackendModule],
  exports: [SettingsModule, observability, storage, BackendModule],
})
export class InfrastructureModule {}
