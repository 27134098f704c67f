import { Module } from '@nestjs/common';
import { SettingsModule } from '../settings.module.js';
import { ModelPageController } from './model-page.controller.js';
import { ReferenceController } from './reference.controller.js';

@Module({ imports: [SettingsModule], controllers: [ReferenceController, ModelPageController] })
export class ReferenceModule {}
