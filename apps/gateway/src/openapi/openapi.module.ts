import { SETTINGS, SettingsModule } from '#infrastructure';
import { Module, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { HttpSettings } from '../http/settings.js';
import { SERVICE_DOCUMENT, serviceDocument } from './service-document.js';

@Module({
  imports: [DiscoveryModule, SettingsModule],
  providers: [
    {
      provide: SERVICE_DOCUMENT,
      inject: [DiscoveryService, SETTINGS],
      useFactory: (discovery: DiscoveryService, { PUBLIC_BASE_URL }: HttpSettings) =>
        serviceDocument(
          discovery.getControllers().map(({ metatype }) => metatype as Type),
          PUBLIC_BASE_URL,
        ),
    },
  ],
  exports: [SERVICE_DOCUMENT],
})
export class OpenApiModule {}
