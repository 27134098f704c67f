import { type DynamicModule, Module } from '@nestjs/common';
import { NodePages } from './node-pages.js';
import { NodesController } from './nodes.controller.js';

/** The node registry. It shares no credentials and no error shapes with the router. */
@Module({ controllers: [NodesController], providers: [NodePages] })
export class NodesModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: NodesModule, imports };
  }
}
