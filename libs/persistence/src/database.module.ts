import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdmissionRepository } from './admission.repository.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { dataSourceOptions, entities, openForApp } from './data-source.js';
import { Database } from './database.js';
import { HeldRunRepository } from './held-run.repository.js';
import { OutboxRepository } from './outbox.repository.js';
import { ProviderPauseRepository } from './provider-pause.repository.js';
import { Registry } from './registry/registry.js';
import { RetentionRepository } from './retention.repository.js';
import { RunReader } from './run-reader.js';
import { RunRepository } from './run.repository.js';
import { DATABASE_SETTINGS, type DatabaseSettings, type RetentionSettings } from './settings.js';
import { StoredObjectRepository } from './stored-object.repository.js';
import { UsageReader } from './usage-reader.js';
import { WorkspaceRepository } from './workspace.repository.js';

const repositories = [
  AdmissionRepository,
  ApiKeyRepository,
  HeldRunRepository,
  OutboxRepository,
  ProviderPauseRepository,
  Registry,
  RetentionRepository,
  RunReader,
  RunRepository,
  StoredObjectRepository,
  UsageReader,
  WorkspaceRepository,
];

type ModuleOptions = Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<DatabaseSettings & RetentionSettings>, 'inject' | 'useFactory'>;

/** The database and its repositories. What is opened here is closed with the application. */
@Module({})
export class DatabaseModule {
  static forRootAsync({ imports = [], inject = [], useFactory }: ModuleOptions): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        ...imports,
        TypeOrmModule.forRootAsync({
          imports,
          inject,
          useFactory: async (...injected) => ({
            ...dataSourceOptions(await useFactory(...injected)),
            // A start that the database refuses ends at once: whoever supervises the process starts it again.
            toRetry: () => false,
          }),
          dataSourceFactory: openForApp,
        }),
        TypeOrmModule.forFeature(entities),
      ],
      providers: [{ provide: DATABASE_SETTINGS, inject, useFactory }, Database, ...repositories],
      exports: [Database, ...repositories],
    };
  }
}
