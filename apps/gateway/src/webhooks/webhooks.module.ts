import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { WebhooksController } from './webhooks.controller.js';

/** The webhooks of a workspace: their deliveries, and the secret that signs them. */
@Module({ imports: [InfrastructureModule, AuthModule, BodiesModule], controllers: [WebhooksController] })
export class WebhooksModule {}
