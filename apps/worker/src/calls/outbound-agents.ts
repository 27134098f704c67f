import { isOriginOf, isPublicAddress, refusalOf } from '#schemas';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isIP } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { NameResolver, type ResolveTerms } from '../resolver/name-resolver.js';
import { guarded, RefusedAddress } from './address-guard.js';
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
