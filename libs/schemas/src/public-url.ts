import ipaddr from 'ipaddr.js';

/** The only part of IPv6 that is allocated for public use. Addresses that embed IPv4 are mostly outside it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether the text is a public unicast address, in any notation. IPv6 addresses that embed an IPv4 address (mapped,
 * compatible, translated, tunnelled) are not, because the machine that they reach depends on the network.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(globalUnicast);
}

/**
 * The reason why a URL that does not come from the operator may not be called, or null. Host names are checked
 * again when they are resolved, and once more on the connected socket, because a name may resolve differently by
 * then.
 */
export function refusalOf(url: URL): string | null {
  if (url.protocol !== 'https:') return `${url.protocol} is not https`;
  if (url.port !== '') return `port ${url.port} is not the https port`;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // The URL parser has normalized all notations of an IPv4 address.
  if (ipaddr.isValid(host) && !isPublicAddress(host)) return `${host} is not a public address`;
  return null;
}
