import { Registry } from '#persistence';
import { type DynamicModule, Module } from '@nestjs/common';
import { SETTINGS } from '../resources.js';
import type { GatewaySettings } from '../settings.js';
import { NodePages } from './node-pages.js';
import { NodesController } from './nodes.controller.js';
import { PageCache } from './page-cache.js';

/** The node registry. It shares no credentials and no error shapes with the router. */
@Module({})
export class NodesModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return {
      module: NodesModule,
      imports,
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
    };
  }
}
