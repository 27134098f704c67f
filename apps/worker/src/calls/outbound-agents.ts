import { isOriginOf, isPublicAddress, refusalOf } from '#schemas';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { NameResolver, type ResolveTerms } from '../resolver/name-resolver.js';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import { NotConnected } from './fault.js';

/** Longest wait for a connection, TLS included; a guarded one has its name resolved before. */
const timeout = 5_000;

/**
 * The HTTP agents of this process: one for origins that the operator configured, whose names the operating system
 * resolves; and one for whatever a provider's reply or a caller names, which connects to public addresses only. The
 * names of the second kind are resolved apart, so that one without an answer does not hold up the first kind.
 */
@Injectable()
export class OutboundAgents implements OnApplicationShutdown {
  /** For addresses that the operator set, whatever they are. */
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
   * The agent for a call to a provider, whose address the operator set as `base`; null when `url` may not be called.
   * Like the others it rejects with `NotConnected` when the host has no address.
   */
  async to(url: URL, base: string, terms: ResolveTerms): Promise<Dispatcher | null> {
    return url.origin === new URL(base).origin ? this.trusted : this.toAsset(url, terms);
  }

  /** The agent for an address out of a provider's reply, which a caller may have shaped. */
  async toAsset(url: URL, terms: ResolveTerms): Promise<Dispatcher | null> {
    const isAllowed = this.settings.ASSET_ALLOWED_ORIGINS.includes(url.origin);
    return isAllowed ? this.trusted : this.forPublic(url, terms);
  }

  /** The agent for an address that a caller named. */
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

/** Marks what fails while connecting: the same codes may come from a connection that stood. */
function marking(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) =>
      error ? callback(new NotConnected(error), null) : callback(null, socket),
    );
}

/** Connecting looks nothing up: the request has had its host resolved. */
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
 * Answers with the known addresses of a name, but refuses a name with any address that is not public. The connection goes
 * to the address that was judged: the name is not looked up a second time.
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
