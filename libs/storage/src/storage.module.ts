import { type Log, LOG, Metrics } from '#observability';
import { ConfigurableModuleBuilder, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createStore } from './create-store.js';
import { measuredStore } from './measured-store.js';
import { AssetStore } from './port.js';
import type { StorageSettings } from './settings.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<StorageSettings>()
  .setClassMethodName('forRoot')
  .build();

/** Provides the configured asset store. Needs the log and metrics of an imported `ObservabilityModule`. */
@Module({
  providers: [
    {
      provide: AssetStore,
      inject: [MODULE_OPTIONS_TOKEN, LOG, Metrics],
      useFactory: async (settings: StorageSettings, log: Log, metrics: Metrics) => {
        const { store, warnings } = await createStore(settings);
        for (const warning of warnings) log.warn({}, warning);
        return measuredStore(store, metrics.storeSeconds);
      },
    },
  ],
  exports: [AssetStore],
})
export class StorageModule extends ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(private readonly store: AssetStore) {
    super();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.store.close();
  }
}
