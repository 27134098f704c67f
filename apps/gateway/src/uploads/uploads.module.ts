import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodiesModule } from '../bodies/bodies.module.js';
import { FileUploads } from './file-uploads.js';
import { FormUploads } from './form-uploads.js';

@Module({
  imports: [InfrastructureModule, BodiesModule],
  providers: [FileUploads, FormUploads],
  exports: [FileUploads, FormUploads],
})
export class UploadsModule {}
