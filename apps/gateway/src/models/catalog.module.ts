import { setImmediate } from 'node:timers/promises';
import { type Catalog, type CatalogSettings, inputErrors, isReadLater, LiveCatalog } from '#catalog';
import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import { ProcessRecord } from '#persistence';
import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
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
      inject: [SETTINGS, ProcessRecord, LOG, Metrics],
      useFactory: (settings: CatalogSettings, record: ProcessRecord, log: Log, metrics: Metrics) =>
        LiveCatalog.open({
          directory: settings.CATALOG_DIR,
          keepsModels: true,
          everyMs: settings.CATALOG_POLL_MS,
          prepare: compileAhead,
          report: (state) => record.report(state),
          log,
          metrics,
        }),
    },
  ],
  exports: [LiveCatalog, ModelServers],
})
export class CatalogModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly catalog: LiveCatalog,
    @Inject(LOG) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    compileAhead(this.catalog.current).catch((error: unknown) =>
      this.log.error({ error }, 'could not compile a schema'),
    );
    this.catalog.watch();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.catalog.close();
  }
}

/**
 * Compiles the input schemas that are read with their rows, one per turn of the event loop, so that neither the first
 * call of a model nor concurrent calls have to wait. The others are read and compiled on first use, because most of
 * thousands of models are never used.
 */
async function compileAhead(catalog: Catalog): Promise<void> {
  for (const model of catalog.models) {
    if (isReadLater(model)) continue;
    await setImmediate();
    inputErrors(model, {});
  }
}
