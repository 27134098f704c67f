import { vendors } from './vendors.js';

/** The names of the vendors in `COMPAT_CLIENTS`, each with what works. */
export const vendorClients: Readonly<Record<string, string>> = Object.fromEntries(
  vendors.map(({ name, serves }) => [name, serves]),
);

export interface VendorSettings {
  COMPAT_CLIENTS: readonly string[];
}
