import { type BoundProvider, credentialHeaders } from '#providers';
import type { Readable } from 'node:stream';
import picomatch from 'picomatch';
import { type Dispatcher, request } from 'undici';
import { discard } from '../calls/discard.js';
import type { Doors } from '../calls/doors.js';

/** Why an asset was not copied; the label of a metric. */
export type CopyTrouble =
  | 'refused_address'
  | 'redirects'
  | 'status'
  | 'encoding'
  | 'media_type'
  | 'too_large'
  | 'unreachable'
  | 'timeout'
  | 'store'
  | 'too_many';

export class NotCopied extends Error {
  constructor(
    readonly trouble: CopyTrouble,
    message: string,
  ) {
    super(message);
    this.name = 'NotCopied';
  }
}

interface Source {
  mediaType: string;
  body: Readable;
}

interface SourceOptions {
  ASSET_MAX_BYTES: number;
  ASSET_MEDIA_TYPES: string[];
}

const redirects = new Set([301, 302, 303, 307, 308]);
const mostRedirects = 3;

/** Opens URLs out of partners' replies. Each hop is judged like the first one. */
export class AssetSource {
  private readonly isAccepted: (mediaType: string) => boolean;

  constructor(
    private readonly doors: Doors,
    private readonly options: SourceOptions,
  ) {
    this.isAccepted = picomatch(options.ASSET_MEDIA_TYPES, { nocase: true });
  }

  /** Rejects with `NotCopied`, or with what broke the connection. The signal also ends the body. */
  async open(url: URL, provider: BoundProvider, signal: AbortSignal): Promise<Source> {
    let next = url;
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const reply = await this.get(next, provider, signal);
      if (!redirects.has(reply.statusCode)) return this.accept(reply);
      const location = textOf(reply.headers['location']);
      discard(reply.body);
      if (!URL.canParse(location, next.href))
        throw new NotCopied('redirects', 'a redirect without an address');
      next = new URL(location, next);
    }
    throw new NotCopied('redirects', `more than ${mostRedirects} redirects`);
  }

  private async get(
    url: URL,
    provider: BoundProvider,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const dispatcher = this.doors.to(url, provider.base);
    if (dispatcher === null || url.username !== '') {
      throw new NotCopied('refused_address', `${url.hostname} may not be called`);
    }
    const call = { method: 'GET', url: url.href } as const;
    return request(url, {
      method: 'GET',
      headers: {
        'accept-encoding': 'identity',
        // None, except to the provider's own origins.
        ...credentialHeaders(provider.adapter, call, secretOf(provider), Date.now()),
      },
      dispatcher,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  private accept(reply: Dispatcher.ResponseData): Source {
    const trouble = this.troubleWith(reply);
    if (trouble === null) return { mediaType: mediaTypeOf(reply), body: reply.body };
    discard(reply.body);
    throw trouble;
  }

  private troubleWith(reply: Dispatcher.ResponseData): NotCopied | null {
    const { statusCode, headers } = reply;
    if (statusCode !== 200) return new NotCopied('status', `answered HTTP ${statusCode}`);
    // Stored as it comes, it would be no picture for whoever opens it later.
    const encoding = textOf(headers['content-encoding']).toLowerCase();
    if (!['', 'identity'].includes(encoding)) return new NotCopied('encoding', `is encoded as ${encoding}`);
    const mediaType = mediaTypeOf(reply);
    if (!this.isAccepted(mediaType.split(';')[0]?.trim() ?? '')) {
      return new NotCopied('media_type', `is said to be ${mediaType.slice(0, 100)}`);
    }
    // What it says of its length may be a lie: the bytes are counted as well.
    if (Number(headers['content-length'] ?? 0) > this.options.ASSET_MAX_BYTES) {
      return new NotCopied('too_large', 'says that it is too large');
    }
    return null;
  }
}

/** A secret that is only ever traded for a token opens no asset. */
const secretOf = ({ adapter, secret }: BoundProvider) => (adapter.exchange ? undefined : secret);

const textOf = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? (header[0] ?? '') : (header ?? '');

const mediaTypeOf = ({ headers }: Dispatcher.ResponseData): string =>
  textOf(headers['content-type']) || 'application/octet-stream';
