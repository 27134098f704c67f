import { BlockList, isIP, type Socket } from 'node:net';
import { RouterError } from '#errors';
import { type Metrics, Shares } from '#observability';
import type { FastifyInstance } from 'fastify';
import { networkOf } from './network.js';
import type { HttpSettings } from './settings.js';

interface OpenConnection {
  /** The network whose share it counts towards; null for a trusted proxy. */
  network: string | null;
  /** Calls in progress: more than one when the caller pipelines. */
  calls: number;
}

/**
 * Shares the connections among the networks of callers, so that one network cannot take them all. Connections of
 * trusted proxies carry many callers, so they have no share; their calls are shared by the address that the proxy
 * reports. When there is no room for a network that has less than an equal share, or only few connections, idle ones
 * are closed for it.
 */
export function shareConnections(
  server: FastifyInstance,
  {
    MAX_CONNECTIONS: max,
    TRUSTED_PROXIES: proxies,
  }: Pick<HttpSettings, 'MAX_CONNECTIONS' | 'TRUSTED_PROXIES'>,
  metrics: Metrics,
): void {
  const isProxy = addressTest(proxies);
  const shares = new Shares(max);
  const proxiedCalls = new Shares(max);
  const open = new Map<Socket, OpenConnection>();
  /** Connections without a call, the longest silent first. */
  const silent = new Set<Socket>();

  server.server.on('connection', (socket: Socket) => {
    const { remoteAddress: address = '' } = socket;
    const network = isProxy(address) ? null : networkOf(address);
    if (!makeRoom(network)) {
      metrics.refusedConnections.inc();
      socket.destroy();
      return;
    }
    open.set(socket, { network, calls: 0 });
    if (network !== null) silent.add(socket);
    socket.once('close', () => release(socket));
  });

  /** Takes a place, and one from the network's share. */
  function makeRoom(network: string | null): boolean {
    if (network !== null && !takeShare(network)) return false;
    if (open.size < max || closeLongestSilent()) return true;
    if (network !== null) shares.giveBack(network);
    return false;
  }

  function takeShare(network: string): boolean {
    while (!shares.take(network))
      if (!shares.isBelowEqualShare(network) || !closeLongestSilent()) return false;
    return true;
  }

  function closeLongestSilent(): boolean {
    const [longest] = silent;
    if (longest === undefined) return false;
    // Frees its place now, because the socket reports only later that it has closed.
    release(longest);
    longest.destroy();
    return true;
  }

  function release(socket: Socket): void {
    const network = open.get(socket)?.network ?? null;
    if (open.delete(socket) && network !== null) shares.giveBack(network);
    silent.delete(socket);
  }

  server.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const connection = open.get(socket);
    // A call from within the gateway has no connection.
    if (connection === undefined) return done();
    if (connection.network !== null) {
      connection.calls += 1;
      silent.delete(socket);
      reply.raw.once('close', () => {
        connection.calls -= 1;
        if (connection.calls === 0 && open.has(socket) && !socket.destroyed) silent.add(socket);
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
  new RouterError(
    'service_unavailable',
    'This address has too many calls in flight; retry when one finishes.',
    {
      internal: 'an address behind a proxy has used up its share',
    },
  );

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
