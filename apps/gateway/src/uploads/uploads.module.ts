import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodiesModule } from '../bodies/bodies.module.js';
import { FileUploads } from './file-uploads.js';

@Module({
  imports: [InfrastructureModule, BodiesModule],
  providers: [FileUploads],
  exports: [FileUploads],
})
export class UploadsModule {}
