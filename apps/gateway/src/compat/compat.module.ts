import { InfrastructureModule, SETTINGS } from '#infrastructure';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { UploadsModule } from '../uploads/uploads.module.js';
import { repeatHeadersForComfy } from './comfy-headers.js';
import { FalRuns, serveFal } from './fal-calls.js';
import { FalUploadsController } from './fal-uploads.controller.js';
import type { CompatSettings } from './settings.js';

/** Serves the clients of other services. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule, UploadsModule],
  controllers: [FalUploadsController],
  providers: [FalRuns],
})
export class CompatModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly runs: FalRuns,
    @Inject(SETTINGS) private readonly settings: CompatSettings,
  ) {}

  onModuleInit(): void {
    const server: FastifyInstance = this.host.httpAdapter.getInstance();
    if (this.settings.COMPAT_CLIENTS.includes('fal')) serveFal(server, this.runs);
    if (this.settings.COMPAT_CLIENTS.includes('comfy')) repeatHeadersForComfy(server);
  }
}
