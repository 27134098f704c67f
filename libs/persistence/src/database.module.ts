import { Metrics } from '#observability';
import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdmissionRepository } from './admission.repository.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { ClockSkew } from './clock-skew.js';
import { dataSourceOptions, entities, openForApp } from './data-source.js';
import { Database } from './database.js';
import { FileRepository } from './file.repository.js';
import { HeldRunRepository } from './held-run.repository.js';
import { OutboxRepository } from './outbox.repository.js';
import { OperatorReader } from './operator-reader.js';
import { ProviderPauseRepository } from './provider-pause.repository.js';
import { ProviderReader } from './provider-reader.js';
import { ProcessRecord } from './processes.js';
import { NodeReader } from './registry/node-reader.js';
import { RequestReader } from './request-reader.js';
import { RetentionRepository } from './retention.repository.js';
import { RunReader } from './run-reader.js';
import { RunRepository } from './run.repository.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';
import { StoredObjectRepository } from './stored-object.repository.js';
import { UsageReader } from './usage-reader.js';
import { WebhookRepository } from './webhook.repository.js';
import { WorkspaceReader } from './workspace-reader.js';
import { WorkspaceRepository } from './workspace.repository.js';

const services = [
  ClockSkew,
  Database,
  AdmissionRepository,
  ApiKeyRepository,
  FileRepository,
  HeldRunRepository,
  NodeReader,
  OperatorReader,
  OutboxRepository,
  ProcessRecord,
  ProviderPauseRepository,
  ProviderReader,
  RequestReader,
  RetentionRepository,
  RunReader,
  RunRepository,
  StoredObjectRepository,
  UsageReader,
  WebhookRepository,
  WorkspaceReader,
  WorkspaceRepository,
];

type ModuleOptions = Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<DatabaseOptions>, 'inject' | 'useFactory'>;

/** The database and its repositories. Needs the log and the metrics of an imported `ObservabilityModule`. */
@Module({})
export class DatabaseModule {
  constructor(database: Database, metrics: Metrics) {
    metrics.watchPools(() => database.pools());
  }

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
      providers: [{ provide: DATABASE_OPTIONS, inject, useFactory }, ...services],
      exports: [...services],
    };
  }
}
