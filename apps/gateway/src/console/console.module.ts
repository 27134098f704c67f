import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';

@Module({ imports: [InfrastructureModule], controllers: [ConsoleController] })
export class ConsoleModule {}
