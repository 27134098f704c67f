import type { FastifyRequest } from 'fastify';

const host = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

/** What the URLs of an answer start with: the configured address, or else the one the caller used. */
export function originOf(request: FastifyRequest, publicBaseUrl: string | undefined): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  if (host.test(request.host)) return `${request.protocol}://${request.host}`;
  // HTTP/1.0 may leave the host out; then only the address that was connected to is known.
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = request.socket;
  const address = localFamily === 'IPv6' ? `[${localAddress}]` : localAddress;
  return `${request.protocol}://${address}:${localPort}`;
}
