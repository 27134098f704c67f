import { type DynamicModule, Module } from '@nestjs/common';
import { AssetsModule } from './assets/assets.module.js';
import { AuthModule } from './auth/auth.module.js';
import { HealthModule } from './health/health.module.js';
import { ModelsModule } from './models/models.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { type Resources, ResourcesModule } from './resources.js';
import { RunsModule } from './runs/runs.module.js';

@Module({})
export class GatewayModule {
  static over(resources: Resources): DynamicModule {
    const outside = ResourcesModule.of(resources);
    const auth = AuthModule.on(outside);
    return {
      module: GatewayModule,
      imports: [
        ModelsModule.on(outside, auth),
        RunsModule.on(outside, auth),
        NodesModule.on(outside),
        AssetsModule.on(outside),
        ReferenceModule.on(outside),
        HealthModule.on(outside),
      ],
    };
  }
}
