import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { ProviderKeysController } from './provider-keys.controller.js';

/** Routes for a workspace's own keys of providers. */
@Module({
  imports: [InfrastructureModule, CatalogModule, AuthModule, BodiesModule],
  controllers: [ProviderKeysController],
})
export class ProviderKeysModule {}
