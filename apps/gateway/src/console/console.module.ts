import { Module } from '@nestjs/common';
import { InfrastructureModule } from '../infrastructure.module.js';
import { ConsoleController } from './console.controller.js';

@Module({ imports: [InfrastructureModule], controllers: [ConsoleController] })
export class ConsoleModule {}
