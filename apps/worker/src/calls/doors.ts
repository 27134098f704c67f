import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedLookup, isPublicAddress, RefusedAddress, refusalOf } from './address-guard.js';
import { NotConnected } from './fault.js';

interface DoorOptions {
  PROVIDER_CONNECT_MS: number;
  ASSET_ALLOWED_ORIGINS: string[];
}

/**
 * The two ways out of this process: one for origins that the operator named, one for whatever a partner's reply
 * names, which leads to public addresses only.
 */
export class Doors {
  /** For addresses that the operator set, whatever they are. */
  readonly named: Dispatcher;
  private readonly guarded: Dispatcher;

  constructor(
    private readonly options: DoorOptions,
    lookup: LookupFunction = guardedLookup,
  ) {
    const timeout = options.PROVIDER_CONNECT_MS;
    this.named = new Agent({ connect: telling(buildConnector({ timeout })) });
    this.guarded = new Agent({ connect: telling(guardedConnector(timeout, lookup)) });
  }

  /** The way to `url`; null when it may not be called. `base` is an address that the operator set. */
  to(url: URL, base: string): Dispatcher | null {
    const isNamed = url.origin === new URL(base).origin;
    if (isNamed || this.options.ASSET_ALLOWED_ORIGINS.includes(url.origin)) return this.named;
    return refusalOf(url, []) === null ? this.guarded : null;
  }

  async close(): Promise<void> {
    await Promise.all([this.named.destroy(), this.guarded.destroy()]);
  }
}

/** Marks what fails while connecting: the same codes may come from a connection that stood. */
function telling(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) =>
      error ? callback(new NotConnected(error), null) : callback(null, socket),
    );
}

function guardedConnector(timeout: number, lookup: LookupFunction): buildConnector.connector {
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
