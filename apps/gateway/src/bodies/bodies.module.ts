import { SettingsModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodyChecker } from './body-checker.js';
import { BodyBudget, BodyReader } from './body-reader.js';

/** Readers of bodies, with one budget for all of them. */
@Module({
  imports: [SettingsModule],
  providers: [BodyBudget, BodyReader, BodyChecker],
  exports: [BodyBudget, BodyReader, BodyChecker],
})
export class BodiesModule {}
