import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodyChecker } from './body-checker.js';
import { BodyBudget, BodyReader } from './body-reader.js';
import { MeasuredAnswers } from './measured-answers.js';

/** Reads and checks request bodies, within one memory budget for all. */
@Module({
  imports: [InfrastructureModule],
  providers: [BodyBudget, BodyReader, MeasuredAnswers, BodyChecker],
  exports: [BodyBudget, BodyReader, BodyChecker],
})
export class BodiesModule {}
