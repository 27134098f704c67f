import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { McpController } from './mcp.controller.js';

@Module({ imports: [AuthModule, RunsModule], controllers: [McpController] })
export class McpModule {}
