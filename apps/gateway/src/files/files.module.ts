import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { InfrastructureModule } from '../infrastructure.module.js';
import { FalUploadsController } from '../compat/fal-uploads.controller.js';
import { FilesController } from './files.controller.js';
import { FileUploads } from './file-uploads.js';

@Module({
  imports: [InfrastructureModule, AuthModule, BodiesModule],
  controllers: [FilesController, FalUploadsController],
  providers: [FileUploads],
})
export class FilesModule {}
