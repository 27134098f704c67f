import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthModule } from '../../auth/auth.module.js';
import { BodiesModule } from '../../bodies/bodies.module.js';
import { CatalogModule } from '../../models/catalog.module.js';
import { UploadsModule } from '../../uploads/uploads.module.js';
import type { VendorSettings } from '../vendor.js';
import { FalRuns, serveFal } from './fal-calls.js';
import { FalUploadsController } from './fal-uploads.controller.js';

@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule, UploadsModule],
  controllers: [FalUploadsController],
  providers: [FalRuns],
})
export class FalModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly runs: FalRuns,
    @Inject(SETTINGS) private readonly settings: VendorSettings,
  ) {}

  onModuleInit(): void {
    if (this.settings.COMPAT_CLIENTS.includes('fal'))
      serveFal(this.host.httpAdapter.getInstance(), this.runs);
  }
}
