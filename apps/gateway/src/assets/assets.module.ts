import { Module } from '@nestjs/common';
import { InfrastructureModule } from '../infrastructure.module.js';
import { AssetsController } from './assets.controller.js';

@Module({ imports: [InfrastructureModule], controllers: [AssetsController] })
export class AssetsModule {}
