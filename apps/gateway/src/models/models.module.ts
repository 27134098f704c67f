import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../catalog.module.js';
import { InfrastructureModule } from '../infrastructure.module.js';
import { ModelListsController } from './model-lists.controller.js';
import { ModelsController } from './models.controller.js';
import { VariantPathsController } from './variant-paths.controller.js';

@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule],
  controllers: [ModelListsController, ModelsController, VariantPathsController],
})
export class ModelsModule {}
