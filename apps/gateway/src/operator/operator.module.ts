import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { OperatorAuditController } from './audit.controller.js';
import { OperatorOnboardingController } from './onboarding.controller.js';
import { OperatorProvidersController } from './providers.controller.js';
import { OperatorQueuesController } from './queues.controller.js';
import { OperatorRefundsController } from './refunds.controller.js';
import { OperatorRunsController } from './runs.controller.js';
import { OperatorWorkspacesController } from './workspaces.controller.js';

/** Routes for operators: all workspaces, providers, queues and actions, and the runs that need attention. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule],
  controllers: [
    OperatorWorkspacesController,
    OperatorOnboardingController,
    OperatorProvidersController,
    OperatorQueuesController,
    OperatorRunsController,
    OperatorRefundsController,
    OperatorAuditController,
  ],
})
export class OperatorModule {}
