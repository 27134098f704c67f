import { Module } from '@nestjs/common';
import { InfrastructureModule } from '../infrastructure.module.js';
import { BodyChecker } from './body-checker.js';
import { BodyReader } from './body-reader.js';

/** All bodies of a gateway share one budget. */
@Module({
  imports: [InfrastructureModule],
  providers: [BodyChecker, BodyReader],
  exports: [BodyChecker, BodyReader],
})
export class BodiesModule {}
