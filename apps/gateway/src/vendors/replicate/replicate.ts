import type { ModuleVendor } from '../vendor.js';
import { replicateApi } from './replicate-api.js';
import { ReplicateModule } from './replicate.module.js';

const { name, serves } = replicateApi;

export const replicate: ModuleVendor = { name, serves, module: ReplicateModule };
