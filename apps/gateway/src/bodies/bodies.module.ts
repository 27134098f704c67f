import { SettingsModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodyChecker } from './body-checker.js';
import { BodyBudget, BodyReader } from './body-reader.js';

/** Reads and checks request bodies, within one memory budget for all. */
@Module({
  imports: [SettingsModule],
  providers: [BodyBudget, BodyReader, BodyChecker],
  exports: [BodyBudget, BodyReader, BodyChecker],
})
export class BodiesModule {}
