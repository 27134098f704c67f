import { type Log, LOG, Metrics, ObservabilityModule } from '#observability';
import { DatabaseModule } from '#persistence';
import { createTransport, type Transport } from '#queue';
import { StorageModule } from '#storage';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
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

const database = DatabaseModule.forRootAsync({
  imports: [SettingsModule, observability],
  inject: [SETTINGS],
  useFactory: (settings: GatewaySettings) => ({ ...settings, app: 'gateway' }),
});

@Module({
  imports: [SettingsModule, observability],
  providers: [
    {
      provide: TRANSPORT,
      inject: [SETTINGS, LOG, Metrics],
      useFactory: (settings: GatewaySettings, log: Log, metrics: Metrics) =>
        createTransport(settings, log, metrics),
    },
  ],
  exports: [TRANSPORT],
})
class TransportModule implements OnApplicationShutdown {
  constructor(@Inject(TRANSPORT) private readonly transport: Transport) {}

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }
}

/** What the gateway is built on, each library configured once. */
@Module({
  imports: [SettingsModule, observability, storage, database, TransportModule],
  exports: [SettingsModule, observability, storage, database, TransportModule],
})
export class InfrastructureModule {}
