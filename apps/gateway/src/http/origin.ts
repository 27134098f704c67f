import type { Generation } from '#catalog';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the URLs of an answer start with: the configured address, or else the one that the caller used. */
    readonly publicOrigin: string;
  }
}

const host = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;
const maxPort = 65_535;

export function namePublicOrigin(server: FastifyInstance, publicBaseUrl: string | undefined): void {
  server.decorateRequest('publicOrigin', {
    getter() {
      return publicBaseUrl ?? originOf(this);
    },
  });
}

function originOf(request: FastifyRequest): string {
  // A trusted proxy may pass on a header that its own caller wrote.
  const protocol = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  const [named, , port = '0'] = host.exec(request.host) ?? [];
  if (named !== undefined && Number(port) <= maxPort) return `${protocol}://${request.host}`;
  // HTTP/1.0 may leave the host out; then only the address that was connected to is known.
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = request.socket;
  const address = localFamily === 'IPv6' ? `[${localAddress}]` : localAddress;
  return `${protocol}://${address}:${localPort}`;
}

/** The generation of router routes that the call came by. */
export const generationOf = (request: Pick<FastifyRequest, 'routeOptions'>): Generation =>
  request.routeOptions.url?.startsWith('/v1/') ? 'v1' : 'v2';
