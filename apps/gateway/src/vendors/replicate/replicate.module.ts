import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthModule } from '../../auth/auth.module.js';
import { CatalogModule } from '../../models/catalog.module.js';
import { RunsModule } from '../../runs/runs.module.js';
import { UploadsModule } from '../../uploads/uploads.module.js';
import { serveVendor } from '../serve-vendor.js';
import { VendorLists } from '../vendor-lists.js';
import { VendorModels } from '../vendor-models.js';
import type { VendorSettings } from '../vendor.js';
import { PredictionCalls } from './prediction-calls.js';
import { Predictions } from './predictions.js';
import { replicateApi } from './replicate-api.js';
import { ReplicateFiles } from './replicate-files.js';

/** Serves Replicate's clients: queued runs, under the name of predictions. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, RunsModule, UploadsModule],
  providers: [VendorModels, VendorLists, Predictions, PredictionCalls, ReplicateFiles],
})
export class ReplicateModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly calls: PredictionCalls,
    private readonly files: ReplicateFiles,
    @Inject(SETTINGS) private readonly settings: VendorSettings,
  ) {}

  onModuleInit(): void {
    if (this.settings.COMPAT_CLIENTS.includes(replicateApi.name))
      serveVendor(this.host.httpAdapter.getInstance(), replicateApi, [
        ...this.calls.paths(),
        ...this.files.paths(),
      ]);
  }
}
