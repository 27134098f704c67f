import { BlockList, isIP, type Socket } from 'node:net';
import { RouterError } from '#errors';
import type { Metrics } from '#observability';
import type { FastifyInstance } from 'fastify';
import { networkOf } from './network.js';
import { Shares } from './shares.js';

interface ConnectionSettings {
  MAX_CONNECTIONS: number;
  TRUSTED_PROXIES: readonly string[];
}

/**
 * Shares the connections among the networks of callers, so that no network alone can take them all. Connections of
 * trusted proxies carry many callers: they have no share, and their calls share by the address that the proxy names. When
 * all connections are taken, one that carries no call is closed for each new one.
 */
export function shareConnections(
  server: FastifyInstance,
  settings: ConnectionSettings,
  metrics: Metrics,
): void {
  const { MAX_CONNECTIONS: max } = settings;
  const isProxy = addressTest(settings.TRUSTED_PROXIES);
  const connections = new Shares(max);
  const proxiedCalls = new Shares(max);
  const open = new Set<Socket>();
  const proxied = new WeakSet<Socket>();
  /** In the order in which they fell silent. */
  const silent = new Set<Socket>();

  const refuse = (socket: Socket) => {
    metrics.refusedConnections.inc();
    socket.destroy();
  };
  server.server.on('connection', (socket: Socket) => {
    const { remoteAddress: address = '' } = socket;
    if (open.size >= max) closeOne(silent);
    if (open.size >= max) return refuse(socket);
    if (isProxy(address)) proxied.add(socket);
    else {
      const network = networkOf(address);
      if (!connections.take(network)) return refuse(socket);
      silent.add(socket);
      socket.once('close', () => connections.giveBack(network));
    }
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
  });

  /** Closes the connection that has been silent for the longest. */
  function closeOne([longest]: Iterable<Socket>): void {
    if (longest === undefined) return;
    open.delete(longest);
    silent.delete(longest);
    longest.destroy();
  }

  server.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    silent.delete(socket);
    if (!proxied.has(socket)) {
      reply.raw.once('close', () => {
        if (open.has(socket) && !socket.destroyed) silent.add(socket);
      });
      return done();
    }
    const network = networkOf(request.ip);
    if (!proxiedCalls.take(network)) return done(tooMany());
    reply.raw.once('close', () => proxiedCalls.giveBack(network));
    done();
  });
}

const tooMany = () =>
  new RouterError('service_unavailable', 'This address has too many calls open; please retry.', {
    internal: 'the share of an address behind a proxy is taken',
  });

function addressTest(addresses: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const each of addresses) {
    const [address = '', bits] = each.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
