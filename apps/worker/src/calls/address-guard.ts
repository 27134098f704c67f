import type { LookupAddress } from 'node:dns';
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
 * Answers with the addresses that are known of a name, but refuses a name of which any address is not public. The
 * connection goes to what was judged: the name is not looked up a second time.
 */
export const guarded =
  (known: (hostname: string) => readonly LookupAddress[]): LookupFunction =>
  (hostname, options, callback) => {
    const addresses = known(hostname);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (refused || !first) return callback(new RefusedAddress(refused?.address ?? hostname), '', 0);
    return options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
  };
