import { type DynamicModule, Module } from '@nestjs/common';
import { ModelsController } from './models.controller.js';
import { VariantPathsController } from './variant-paths.controller.js';

@Module({})
export class ModelsModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: ModelsModule, imports, controllers: [ModelsController, VariantPathsController] };
  }
}
