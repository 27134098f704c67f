import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { HttpModule } from '../http/http.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { CostController } from './cost.controller.js';
import { DeliveredResults } from './held/delivered-results.js';
import { EventStreams } from './held/event-streams.js';
import { HeldRuns } from './held/held-runs.js';
import { HeldShares } from './held/held-shares.js';
import { JoinedRuns } from './joined-runs.js';
import { KeptRuns } from './kept-runs.js';
import { Overshoots } from './overshoots.js';
import { RunPayloads } from './run-payloads.js';
import { RunAdmission } from './run-admission.js';
import { RunCancellation } from './run-cancellation.js';
import { RunErasure } from './run-erasure.js';
import { RunInput } from './run-input.js';
import { RunWatch } from './run-watch.js';
import { RunsController } from './runs.controller.js';
import { SubmitController } from './submit.controller.js';
import { SyncRuns } from './sync-runs.js';
import { SyncController } from './sync.controller.js';

@Module({
  imports: [InfrastructureModule, HttpModule, CatalogModule, AuthModule, BodiesModule],
  controllers: [SyncController, SubmitController, CostController, RunsController],
  providers: [
    Overshoots,
    RunInput,
    RunAdmission,
    JoinedRuns,
    RunPayloads,
    KeptRuns,
    RunErasure,
    RunCancellation,
    RunWatch,
    EventStreams,
    HeldRuns,
    HeldShares,
    DeliveredResults,
    SyncRuns,
  ],
  exports: [
    HeldShares,
    KeptRuns,
    RunAdmission,
    RunCancellation,
    RunErasure,
    RunInput,
    RunPayloads,
    RunWatch,
    SyncRuns,
  ],
})
export class RunsModule {}
