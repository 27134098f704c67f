import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { OperatorProvidersController } from './providers.controller.js';
import { OperatorQueuesController } from './queues.controller.js';
import { OperatorRunsController } from './runs.controller.js';
import { OperatorWorkspacesController } from './workspaces.controller.js';

/** What operators see and change over HTTP: all workspaces, providers, queues. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule],
  controllers: [
    OperatorWorkspacesController,
    OperatorProvidersController,
    OperatorQueuesController,
    OperatorRunsController,
  ],
})
export class OperatorModule {}
