import { SettingsModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { BodyBudget } from './body-budget.js';
import { BodyChecker } from './body-checker.js';
import { BodyReader } from './body-reader.js';

/** What reads bodies; one budget for all of them. */
@Module({
  imports: [SettingsModule],
  providers: [BodyBudget, BodyReader, BodyChecker],
  exports: [BodyBudget, BodyReader, BodyChecker],
})
export class BodiesModule {}
