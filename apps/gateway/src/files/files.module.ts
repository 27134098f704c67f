import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { InfrastructureModule } from '../infrastructure.module.js';
import { FilesController } from './files.controller.js';
import { FileUploads } from './file-uploads.js';

@Module({
  imports: [InfrastructureModule, AuthModule, BodiesModule],
  controllers: [FilesController],
  providers: [FileUploads],
})
export class FilesModule {}
