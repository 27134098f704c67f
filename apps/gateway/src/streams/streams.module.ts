import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { StatusStream } from './status-stream.js';
import { StreamsController } from './streams.controller.js';

/** Streams of a run's states. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, RunsModule],
  controllers: [StreamsController],
  providers: [StatusStream],
})
export class StreamsModule {}
