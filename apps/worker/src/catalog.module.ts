import { LiveCatalog } from '#catalog';
import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { type Log, LOG, Metrics } from '#observability';
import { ProcessRecord } from '#persistence';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Providers } from './providers.js';
import type { WorkerSettings } from './settings.js';

/** A worker uses the catalog only for its providers, whose keys are reloaded together with it. */
@Module({
  imports: [InfrastructureModule],
  providers: [
    Providers,
    {
      provide: LiveCatalog,
      inject: [SETTINGS, Providers, ProcessRecord, LOG, Metrics],
      useFactory: openCatalog,
    },
  ],
  exports: [Providers, LiveCatalog],
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

async function openCatalog(
  { CATALOG_DIR, CATALOG_POLL_MS, PROVIDER_KEYS_DIR, WORKER_DISPATCH_CONCURRENCY: slots }: WorkerSettings,
  providers: Providers,
  record: ProcessRecord,
  log: Log,
  metrics: Metrics,
): Promise<LiveCatalog> {
  const catalog = await LiveCatalog.open({
    directory: CATALOG_DIR,
    // A worker needs no model rows: each run carries the facts it needs.
    keepsModels: false,
    alsoWatched: PROVIDER_KEYS_DIR === undefined ? [] : [PROVIDER_KEYS_DIR],
    everyMs: CATALOG_POLL_MS,
    prepare: async (next) => providers.bind(next),
    report: (state) =>
      record.report({ ...state, providers: providers.keyed(), simulated: providers.simulated(), slots }),
    log,
    metrics,
  });
  providers.bind(catalog.current);
  return catalog;
}
