import { Metrics } from '#observability';
import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdmissionRepository } from './admission.repository.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { AttemptRepository } from './attempt.repository.js';
import { BudgetRepository } from './budget.repository.js';
import { CallRepository } from './call.repository.js';
import { ClockSkew } from './clock-skew.js';
import { dataSourceOptions, openForApp } from './data-source.js';
import { Database } from './database.js';
import { DatabaseOutage } from './database-outage.js';
import { DueRowRepository } from './due-row.repository.js';
import { ProcessRow } from './entities/operations.entity.js';
import { ErasureRepository } from './erasure.repository.js';
import { FileRepository } from './file.repository.js';
import { HeldRunRepository } from './held-run.repository.js';
import { KeptRunRepository } from './kept-run.repository.js';
import { DispatchRepository } from './dispatch.repository.js';
import { LedgerReader } from './ledger-reader.js';
import { ModelSampleRepository } from './model-sample.repository.js';
import { OnboardingRepository } from './onboarding.repository.js';
import { OutboxRepository } from './outbox.repository.js';
import { OwnKeyRepository } from './own-key.repository.js';
import { OperatorActionReader } from './operator-action-reader.js';
import { OperatorReader } from './operator-reader.js';
import { OperatorRunReader } from './operator-run-reader.js';
import { ProviderCheckRepository } from './provider-check.repository.js';
import { ProviderHealthRepository } from './provider-health.js';
import { ProviderKeyRepository } from './provider-key.repository.js';
import { ProviderPauseRepository } from './provider-pause.repository.js';
import { ProviderReader } from './provider-reader.js';
import { OvershootRepository } from './overshoot.repository.js';
import { ProviderSurpriseRepository } from './provider-surprise.repository.js';
import { ProcessRecord } from './process-record.js';
import { NodeReader } from './registry/node-reader.js';
import { RefundRepository } from './refund.repository.js';
import { RefusedCallRepository } from './refused-call.repository.js';
import { RequestReader } from './request-reader.js';
import { RetentionRepository } from './retention.repository.js';
import { RunReader } from './run-reader.js';
import { RunRepository } from './run.repository.js';
import { Pools } from './pools.js';
import { DATABASE_OPTIONS, type DatabaseOptions } from './settings.js';
import { SharedRunRepository } from './shared-run.repository.js';
import { StoredObjectRepository } from './stored-object.repository.js';
import { UsageReader } from './usage-reader.js';
import { WebhookRepository } from './webhook.repository.js';
import { WorkspaceRepository } from './workspace.repository.js';

const services = [
  ClockSkew,
  Database,
  AdmissionRepository,
  ApiKeyRepository,
  AttemptRepository,
  BudgetRepository,
  CallRepository,
  DueRowRepository,
  ErasureRepository,
  FileRepository,
  HeldRunRepository,
  KeptRunRepository,
  LedgerReader,
  NodeReader,
  OperatorActionReader,
  OperatorReader,
  OperatorRunReader,
  DispatchRepository,
  ModelSampleRepository,
  OnboardingRepository,
  OutboxRepository,
  OwnKeyRepository,
  ProcessRecord,
  ProviderCheckRepository,
  ProviderHealthRepository,
  ProviderKeyRepository,
  ProviderPauseRepository,
  ProviderReader,
  OvershootRepository,
  ProviderSurpriseRepository,
  RefundRepository,
  RefusedCallRepository,
  RequestReader,
  RetentionRepository,
  RunReader,
  RunRepository,
  SharedRunRepository,
  StoredObjectRepository,
  UsageReader,
  WebhookRepository,
  WorkspaceRepository,
];

type ModuleOptions = Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<DatabaseOptions>, 'inject' | 'useFactory'>;

/** The pools are a separate module because both the data source and the repositories need them. */
@Module({})
class PoolsModule {}

/** The database and its repositories. Needs the log and the metrics of an imported `ObservabilityModule`. */
@Module({})
export class DatabaseModule {
  constructor(database: Database, metrics: Metrics) {
    metrics.watchPools(() => database.usage());
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: ModuleOptions): DynamicModule {
    const pools = {
      module: PoolsModule,
      imports,
      providers: [{ provide: DATABASE_OPTIONS, inject, useFactory }, DatabaseOutage, Pools],
      exports: [DATABASE_OPTIONS, DatabaseOutage, Pools],
    };
    return {
      module: DatabaseModule,
      imports: [
        ...imports,
        pools,
        TypeOrmModule.forRootAsync({
          imports: [pools],
          inject: [Pools],
          // Fail at once if the database refuses the connection: the supervisor restarts the process.
          useFactory: (given: Pools) => ({ ...dataSourceOptions(given), toRetry: () => false }),
          dataSourceFactory: openForApp,
        }),
        TypeOrmModule.forFeature([ProcessRow]),
      ],
      providers: services,
      exports: [...services, pools],
    };
  }
}
