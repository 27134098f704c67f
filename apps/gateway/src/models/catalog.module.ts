import { type CatalogSettings, LiveCatalog } from '#catalog';
import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import { ClockSkew, ProcessRecord } from '#persistence';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ModelServers } from './model-servers.js';
import { ProviderKeys } from './provider-keys.js';

/** The gateway's catalog, which is reloaded when it changes. */
@Module({
  imports: [InfrastructureModule],
  providers: [
    ProviderKeys,
    ModelServers,
    {
      provide: LiveCatalog,
      inject: [SETTINGS, ProcessRecord, ClockSkew, LOG, Metrics],
      useFactory: (
        settings: CatalogSettings,
        record: ProcessRecord,
        clock: ClockSkew,
        log: Log,
        metrics: Metrics,
      ) =>
        LiveCatalog.open({
          directory: settings.CATALOG_DIR,
          keepsModels: true,
          everyMs: settings.CATALOG_POLL_MS,
          nowMs: () => clock.databaseNowMs(),
          report: (state) => record.report(state),
          log,
          metrics,
        }),
    },
  ],
  exports: [LiveCatalog, ModelServers],
})
export class CatalogModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly catalog: LiveCatalog) {}

  onApplicationBootstrap(): void {
    this.catalog.watch();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.catalog.close();
  }
}
