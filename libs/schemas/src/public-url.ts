import ipaddr from 'ipaddr.js';

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
 * Why a URL that is not the operator's own may not be called, or null. Names are judged again when they are looked up,
 * and once more on the connected socket, because a name may point elsewhere by then.
 */
export function refusalOf(url: URL): string | null {
  if (url.protocol !== 'https:') return `${url.protocol} is not https`;
  if (url.port !== '') return `port ${url.port} is not the one of https`;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // The URL parser has turned every odd spelling of an IPv4 address into the usual one.
  if (ipaddr.isValid(host) && !isPublicAddress(host)) return `${host} is not a public address`;
  return null;
}
