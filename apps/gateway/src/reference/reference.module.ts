import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { ModelsModule } from '../models/models.module.js';
import { OpenApiModule } from '../openapi/openapi.module.js';
import { ModelTextsController } from './model-texts.controller.js';
import { ReferenceController } from './reference.controller.js';

@Module({
  imports: [OpenApiModule, AuthModule, CatalogModule, ModelsModule],
  controllers: [ReferenceController, ModelTextsController],
})
export class ReferenceModule {}
