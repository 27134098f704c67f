import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';

@Module({ imports: [InfrastructureModule], controllers: [AssetsController] })
export class AssetsModule {}
