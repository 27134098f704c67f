import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { SamplesController } from './samples.controller.js';
import { SharedController } from './shared.controller.js';
import { SharingController } from './sharing.controller.js';

/** Links that show a run to anyone, and the runs that operators show to every workspace. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, RunsModule],
  controllers: [SharingController, SharedController, SamplesController],
})
export class SharingModule {}
