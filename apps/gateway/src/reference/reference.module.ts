import { type DynamicModule, Module } from '@nestjs/common';
import { ModelPageController } from './model-page.controller.js';
import { ReferenceController } from './reference.controller.js';

@Module({})
export class ReferenceModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return { module: ReferenceModule, imports, controllers: [ReferenceController, ModelPageController] };
  }
}
