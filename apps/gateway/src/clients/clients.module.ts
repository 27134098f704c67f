import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogModule } from '../models/catalog.module.js';
import { ClientPackages } from './client-packages.js';
import { ClientsController } from './clients.controller.js';

@Module({
  imports: [AuthModule, CatalogModule],
  controllers: [ClientsController],
  providers: [ClientPackages],
})
export class ClientsModule {}
