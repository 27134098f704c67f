import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { UploadsModule } from '../uploads/uploads.module.js';
import { serveVendor } from './serve-vendor.js';
import { VendorCalls } from './vendor-calls.js';
import { VendorForms } from './vendor-forms.js';
import { VendorLists } from './vendor-lists.js';
import { VendorModels } from './vendor-models.js';
import type { VendorSettings } from './vendor.js';
import { vendors } from './vendors.js';

/** Serves vendors' own clients. */
@Module({
  imports: [
    InfrastructureModule,
    CatalogModule,
    AuthModule,
    RunsModule,
    UploadsModule,
    ...vendors.flatMap((vendor) => ('module' in vendor ? [vendor.module] : [])),
  ],
  providers: [VendorModels, VendorLists, VendorForms, VendorCalls],
})
export class VendorsModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly calls: VendorCalls,
    @Inject(SETTINGS) private readonly settings: VendorSettings,
  ) {}

  onModuleInit(): void {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    for (const vendor of vendors) {
      if (!this.settings.COMPAT_CLIENTS.includes(vendor.name)) continue;
      if ('addHooks' in vendor) vendor.addHooks(server);
      else if ('routes' in vendor) serveVendor(server, vendor, this.calls.pathsOf(vendor));
    }
  }
}
