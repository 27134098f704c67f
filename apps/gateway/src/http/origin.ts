import type { Generation } from '#catalog';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The base of the URLs in an answer: the configured address, otherwise the one that the caller used. */
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
  // A trusted proxy may pass on a header that its own caller set.
  const protocol = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  const [named, , port = '0'] = host.exec(request.host) ?? [];
  if (named !== undefined && Number(port) <= maxPort) return `${protocol}://${request.host}`;
  // HTTP/1.0 may omit the host; then only the local address of the connection is known.
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = request.socket;
  const address = localFamily === 'IPv6' ? `[${localAddress}]` : localAddress;
  return `${protocol}://${address}:${localPort}`;
}

/** The generation of the route that was called. */
export const generationOf = (request: Pick<FastifyRequest, 'routeOptions'>): Generation =>
  request.routeOptions.url?.startsWith('/v1/') ? 'v1' : 'v2';
