import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';

  constructor(address: string) {
    super(`${address} is not a public address`);
    this.name = 'RefusedAddress';
  }
}

/** The only part of IPv6 that is given out for public use. What embeds an IPv4 address mostly lies outside. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for a public unicast address, in any spelling. An IPv6 address that stands for an IPv4 one (mapped, compatible,
 * translated, tunnelled) is none: which machine it reaches depends on the network.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(globalUnicast);
}

/**
 * Why a URL out of a reply may not be called, or null. Names are judged again when they are looked up,
 * and once more on the connected socket, because a name may point elsewhere by then.
 */
export function refusalOf(url: URL, allowedOrigins: readonly string[]): string | null {
  if (allowedOrigins.includes(url.origin)) return null;
  if (url.protocol !== 'https:') return `${url.protocol} is not https`;
  if (url.port !== '') return `port ${url.port} is not the one of https`;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // The URL parser has turned every odd spelling of an IPv4 address into the usual one.
  if (ipaddr.isValid(host) && !isPublicAddress(host)) return `${host} is not a public address`;
  return null;
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
