import { type DynamicModule, Module } from '@nestjs/common';
import { BodyChecker } from '../bodies/body-checker.js';
import type { Log } from '#observability';
import { HeldRunRepository } from '#persistence';
import type { Transport } from '#queue';
import { BodyReader } from '../bodies/body-reader.js';
import type { BodySettings } from '../bodies/settings.js';
import { LOG, SETTINGS, TRANSPORT } from '../resources.js';
import { Delivery } from './held/delivery.js';
import { HeldRuns } from './held/held-run.js';
import type { HeldSettings } from './held/settings.js';
import { WakeUps } from './held/wake-ups.js';
import { LostAdmissions } from './lost-admissions.js';
import { Payloads } from './payloads.js';
import { RunAdmission } from './run-admission.js';
import { RunCancellation } from './run-cancellation.js';
import { RunInput } from './run-input.js';
import { RunsController } from './runs.controller.js';
import { SubmitController } from './submit.controller.js';
import { SyncController } from './sync.controller.js';

@Module({})
export class RunsModule {
  static on(...imports: DynamicModule[]): DynamicModule {
    return {
      module: RunsModule,
      imports,
      controllers: [SyncController, SubmitController, RunsController],
      providers: [
        RunInput,
        RunAdmission,
        LostAdmissions,
        Payloads,
        RunCancellation,
        Delivery,
        HeldRuns,
        {
          provide: WakeUps,
          inject: [HeldRunRepository, TRANSPORT, SETTINGS, LOG],
          useFactory: (holding: HeldRunRepository, transport: Transport, settings: HeldSettings, log: Log) =>
            new WakeUps(holding, transport, settings.SYNC_CHECK_MS, log),
        },
        {
          provide: BodyChecker,
          inject: [SETTINGS],
          useFactory: (settings: BodySettings) => new BodyChecker(settings),
        },
        {
          provide: BodyReader,
          inject: [SETTINGS],
          useFactory: (settings: BodySettings) => new BodyReader(settings),
        },
      ],
    };
  }
}
