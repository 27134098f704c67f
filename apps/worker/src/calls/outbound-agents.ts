import type { LookupFunction } from 'node:net';
import { isOriginOf, isPublicAddress, refusalOf } from '#schemas';
import { Inject, Injectable, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedLookup, RefusedAddress } from './address-guard.js';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import { NotConnected } from './fault.js';

/** Longest wait for a connection, TLS included. */
const timeout = 5_000;

/**
 * The HTTP agents of this process: one for origins that the operator configured, one for whatever a partner's reply or a
 * caller names, which connects to public addresses only.
 */
@Injectable()
export class OutboundAgents implements OnApplicationShutdown {
  /** For addresses that the operator set, whatever they are. */
  readonly trusted: Dispatcher;
  private readonly guarded: Dispatcher;

  constructor(
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'ASSET_ALLOWED_ORIGINS' | 'WEBHOOK_ALLOWED_ORIGINS'>,
    @Optional() lookup: LookupFunction = guardedLookup,
  ) {
    this.trusted = new Agent({ connect: marking(buildConnector({ timeout })) });
    this.guarded = new Agent({ connect: marking(guardedConnector(lookup)) });
  }

  /** The agent for `url`; null when it may not be called. `base` is an address that the operator set. */
  to(url: URL, base: string): Dispatcher | null {
    const isConfigured = url.origin === new URL(base).origin;
    if (isConfigured || this.settings.ASSET_ALLOWED_ORIGINS.includes(url.origin)) return this.trusted;
    return this.forPublic(url);
  }

  /** The agent for an address that a caller named; null when it may not be called. */
  toReceiver(url: URL): Dispatcher | null {
    return isOriginOf(url, this.settings.WEBHOOK_ALLOWED_ORIGINS) ? this.trusted : this.forPublic(url);
  }

  private forPublic(url: URL): Dispatcher | null {
    return refusalOf(url) === null ? this.guarded : null;
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

function guardedConnector(lookup: LookupFunction): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const address = socket?.remoteAddress ?? '';
      if (isPublicAddress(address)) return callback(null, socket);
      socket?.destroy();
      return callback(new RefusedAddress(address), null);
    });
}
