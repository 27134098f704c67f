import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BodiesModule } from '../bodies/bodies.module.js';
import { HttpModule } from '../http/http.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { McpController } from './mcp.controller.js';

@Module({ imports: [AuthModule, BodiesModule, HttpModule, RunsModule], controllers: [McpController] })
export class McpModule {}
