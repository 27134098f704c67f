import type { Partner } from './partner.js';
import { bfl } from './partners/bfl/bfl.js';
import { fal } from './partners/fal/fal.js';
import { luma } from './partners/luma/luma.js';

/** Adding a partner is a folder under `partners/` and a line here. */
export const partners: readonly Partner[] = [bfl, fal, luma];
