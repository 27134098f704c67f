import { type DynamicModule, Module } from '@nestjs/common';

/** The node registry: `GET /nodes` has its place here. It shares no credentials and no error shapes with the router. */
@Module({})
export class NodesModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: NodesModule, imports };
  }
}
