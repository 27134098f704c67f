import { type DynamicModule, Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({})
export class HealthModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: HealthModule, imports, controllers: [HealthController], providers: [Readiness] };
  }
}
