import { Module } from '@nestjs/common';
import { AssetsModule } from './assets/assets.module.js';
import { HttpModule } from './http/http.module.js';
import { ModelsModule } from './models/models.module.js';
import { RunsModule } from './runs/runs.module.js';
import { surfaces } from './surfaces.js';

@Module({ imports: [HttpModule, ModelsModule, RunsModule, AssetsModule, ...surfaces] })
export class GatewayModule {}
