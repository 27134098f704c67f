import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { BudgetsController } from './budgets.controller.js';
import { KeysController } from './keys.controller.js';
import { LedgerController } from './ledger.controller.js';
import { RefusalsController } from './refusals.controller.js';
import { RequestsController } from './requests.controller.js';
import { SignInController } from './sign-in.controller.js';
import { UsageController } from './usage.controller.js';
import { WorkspaceController } from './workspace.controller.js';

/** Routes for a workspace's own runs, usage, limits and keys. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule, RunsModule],
  controllers: [
    RequestsController,
    RefusalsController,
    UsageController,
    LedgerController,
    WorkspaceController,
    BudgetsController,
    KeysController,
    SignInController,
  ],
})
export class AccountModule {}
