import { type DynamicModule, Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';

@Module({})
export class AssetsModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: AssetsModule, imports, controllers: [AssetsController] };
  }
}
