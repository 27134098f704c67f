import { SETTINGS } from '#infrastructure';
import { isOriginOf, isPublicAddress, refusalOf } from '#schemas';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { NameResolver, type ResolveTerms } from '../resolver/name-resolver.js';
import type { WorkerSettings } from '../settings.js';
import { NotConnected } from './fault.js';

/** Time limit for a connection, TLS included. For guarded ones the name is resolved before it starts. */
const timeout = 5_000;

/**
 * The HTTP agents of this process. The trusted agent calls origins that the operator configured, and the
 * operating system resolves their names. The guarded agent calls hosts that callers or providers' replies
 * name, and connects to public addresses only. Names for the guarded agent are resolved separately, so that
 * unresponsive DNS servers of callers' names cannot delay calls to providers.
 */
@Injectable()
export class OutboundAgents implements OnApplicationShutdown {
  /** For addresses that the operator configured, private ones included. */
  readonly trusted: Dispatcher;
  private readonly guarded: Dispatcher;

  constructor(
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'ASSET_ALLOWED_ORIGINS' | 'WEBHOOK_ALLOWED_ORIGINS'>,
    private readonly names: NameResolver,
  ) {
    this.trusted = new Agent({ connect: marking(buildConnector({ timeout })) });
    this.guarded = new Agent({ connect: marking(guardedConnector(names)) });
  }

  /**
   * The agent for a call to a provider whose address the operator configured as `base`, or null if `url` may
   * not be called. Like the methods below, it rejects with `NotConnected` if the host has no address.
   */
  async to(url: URL, base: string, terms: ResolveTerms): Promise<Dispatcher | null> {
    return url.origin === new URL(base).origin ? this.trusted : this.toAsset(url, terms);
  }

  /** The agent for a URL from a provider's reply, which a caller may have influenced. */
  async toAsset(url: URL, terms: ResolveTerms): Promise<Dispatcher | null> {
    const isAllowed = this.settings.ASSET_ALLOWED_ORIGINS.includes(url.origin);
    return isAllowed ? this.trusted : this.forPublic(url, terms);
  }

  /** The agent for a webhook URL, which a caller chose. */
  async toReceiver(url: URL, terms: ResolveTerms): Promise<Dispatcher | null> {
    const isAllowed = isOriginOf(url, this.settings.WEBHOOK_ALLOWED_ORIGINS);
    return isAllowed ? this.trusted : this.forPublic(url, terms);
  }

  private async forPublic(url: URL, terms: ResolveTerms): Promise<Dispatcher | null> {
    if (refusalOf(url) !== null) return null;
    if (isIP(url.hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return this.guarded;
    await this.names.resolve(url.hostname, terms).catch((error: unknown) => {
      throw new NotConnected(error);
    });
    return this.guarded;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.trusted.destroy(), this.guarded.destroy()]);
  }
}

/** Marks errors that occur while connecting, because established connections can fail with the same codes. */
function marking(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) =>
      error ? callback(new NotConnected(error), null) : callback(null, socket),
    );
}

/** Connects to addresses that were resolved before the request, without another look-up. */
function guardedConnector(names: NameResolver): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: guarded((hostname) => names.known(hostname)) });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const address = socket?.remoteAddress ?? '';
      if (isPublicAddress(address)) return callback(null, socket);
      socket?.destroy();
      return callback(new RefusedAddress(address), null);
    });
}

export class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';

  constructor(address: string) {
    super(`${address} is not a public address`);
    this.name = 'RefusedAddress';
  }
}

/**
 * A lookup that returns the known addresses of a name, and rejects a name if any of them is not public. The
 * name is not looked up again, so the connection uses the address that was checked.
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
