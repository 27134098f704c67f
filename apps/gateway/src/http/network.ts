/** The network of an address. An IPv6 caller has a whole network of addresses, so only the first 64 bits count. */
export const networkOf = (address: string): string =>
  isIPv6(address) ? groupsOf(address).join(':') : address;

/** The network of a provider's customer: the first 24 bits of an IPv4 address, or 56 of an IPv6 address. */
export function wideNetworkOf(address: string): string {
  if (!isIPv6(address)) return address.slice(address.lastIndexOf(':') + 1, address.lastIndexOf('.'));
  const [last = '0', ...others] = groupsOf(address).toReversed();
  return [...others.toReversed(), last.padStart(4, '0').slice(0, 2)].join(':');
}

const isIPv6 = (address: string): boolean => address.includes(':') && !address.includes('.');

/** The first 64 bits of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4);
}
