import { Injectable } from '@nestjs/common';
import { identifyCaller } from '../auth/caller.guard.js';
import { Identification } from '../auth/identification.js';
import type { VendorPath } from './serve-vendor.js';
import { nameInPath, VendorModels } from './vendor-models.js';
import type { Vendor } from './vendor.js';

/** Answers the calls that list a vendor's models. */
@Injectable()
export class VendorLists {
  constructor(
    private readonly identification: Identification,
    private readonly models: VendorModels,
  ) {}

  /** `entry` is the path of one model. */
  pathsOf(vendor: Vendor, entry = '/models/{model}'): VendorPath[] {
    return [
      {
        method: 'GET',
        path: '/models',
        answer: async (request) => {
          const caller = await identifyCaller(this.identification, request, 'catalog');
          return vendor.list(this.models.list(caller, vendor));
        },
      },
      {
        method: 'GET',
        path: entry,
        answer: async (request) => {
          const caller = await identifyCaller(this.identification, request, 'catalog');
          return vendor.entry(this.models.listedModel(caller, vendor, nameInPath(request) ?? ''));
        },
      },
    ];
  }
}
