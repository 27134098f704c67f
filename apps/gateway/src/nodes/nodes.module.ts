import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { NodePages } from './node-pages.js';
import { NodesController } from './nodes.controller.js';

/** The node registry. It shares neither credentials nor error shapes with the router. */
@Module({ imports: [InfrastructureModule], controllers: [NodesController], providers: [NodePages] })
export class NodesModule {}
