import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { UploadsModule } from '../uploads/uploads.module.js';
import { FilesController } from './files.controller.js';

@Module({ imports: [InfrastructureModule, AuthModule, UploadsModule], controllers: [FilesController] })
export class FilesModule {}
