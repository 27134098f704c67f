import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '#schemas';

export class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';

  constructor(address: string) {
    super(`${address} is not a public address`);
    this.name = 'RefusedAddress';
  }
}

/**
 * Resolves as `lookup` does, but refuses a name of which any address is not public. The connection goes to what was
 * judged: the name is not looked up a second time.
 */
export const guarded =
  (lookup: typeof systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (refused || !first) return callback(new RefusedAddress(refused?.address ?? hostname), '', 0);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };

export const guardedLookup = guarded(systemLookup);
