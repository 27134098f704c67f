import { Registry } from '#persistence';
import { Module } from '@nestjs/common';
import { InfrastructureModule } from '../infrastructure.module.js';
import type { GatewaySettings } from '../settings.js';
import { SETTINGS } from '../settings.module.js';
import { NodePages } from './node-pages.js';
import { NodesController } from './nodes.controller.js';
import { PageCache } from './page-cache.js';

/** The node registry. It shares no credentials and no error shapes with the router. */
@Module({
  imports: [InfrastructureModule],
  controllers: [NodesController],
  providers: [
    {
      provide: NodePages,
      inject: [Registry, SETTINGS],
      useFactory: (registry: Registry, settings: GatewaySettings) =>
        new NodePages(
          registry,
          new PageCache(settings.REGISTRY_CACHE_SECONDS * 1000, settings.REGISTRY_CACHE_BYTES),
        ),
    },
  ],
})
export class NodesModule {}
