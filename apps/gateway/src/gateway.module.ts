import { Module } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AssetsModule } from './assets/assets.module.js';
import { ConsoleModule } from './console/console.module.js';
import { FilesModule } from './files/files.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { ModelsModule } from './models/models.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { OperatorModule } from './operator/operator.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { RunsModule } from './runs/runs.module.js';

@Module({
  imports: [
    HttpModule,
    ModelsModule,
    RunsModule,
    McpModule,
    FilesModule,
    AccountModule,
    OperatorModule,
    NodesModule,
    AssetsModule,
    ReferenceModule,
    ConsoleModule,
    HealthModule,
  ],
})
export class GatewayModule {}
