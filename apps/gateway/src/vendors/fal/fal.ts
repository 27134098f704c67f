import type { ModuleVendor } from '../vendor.js';
import { FalModule } from './fal.module.js';

export const fal: ModuleVendor = {
  name: 'fal',
  serves: 'its proxy and Authorization scheme',
  module: FalModule,
};
