import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { OpenApiModule } from '../openapi/openapi.module.js';
import { CatalogModule } from './catalog.module.js';
import { MeasuredModels } from './measured-models.js';
import { ModelDocuments } from './model-documents.js';
import { ModelListsController } from './model-lists.controller.js';
import { ModelsController } from './models.controller.js';
import { VariantPathsController } from './variant-paths.controller.js';

@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, OpenApiModule],
  controllers: [ModelListsController, ModelsController, VariantPathsController],
  providers: [ModelDocuments, MeasuredModels],
  exports: [ModelDocuments, MeasuredModels],
})
export class ModelsModule {}
