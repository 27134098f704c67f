import { type BoundProvider, credentialHeaders, credentialUrl } from '#providers';
import { essenceOf, isJsonType, shortened } from '#schemas';
import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import picomatch from 'picomatch';
import { type Dispatcher, request } from 'undici';
import { OutboundAgents } from '../calls/outbound-agents.js';
import { discardBody } from '../calls/provider-client.js';
import type { ResolveTerms } from '../resolver/name-resolver.js';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';

/** Why an asset was not copied; the label of a metric. */
export type CopyTrouble =
  | 'refused_address'
  | 'redirects'
  | 'status'
  | 'encoding'
  | 'media_type'
  | 'too_large'
  | 'empty'
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

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 3;

/**
 * Opens URLs out of providers' replies, which a caller may have shaped. The provider's own origin is trusted where its
 * declaration says that assets lie there, and never as the target of a redirect from elsewhere: what else it
 * serves, on a private address, is not for callers. Any other origin is called when it is public or allowed.
 */
@Injectable()
export class AssetSource {
  private readonly isAccepted: (mediaType: string) => boolean;

  constructor(
    private readonly agents: OutboundAgents,
    @Inject(SETTINGS)
    private readonly settings: Pick<WorkerSettings, 'ASSET_MAX_BYTES' | 'ASSET_MEDIA_TYPES'>,
  ) {
    this.isAccepted = picomatch(settings.ASSET_MEDIA_TYPES, { nocase: true });
  }

  /** Rejects with `NotCopied`, or with what broke the connection. The signal also ends the body. */
  async open(url: URL, provider: BoundProvider, terms: ResolveTerms): Promise<Source> {
    let next = url;
    const { assetsNeedKey, assetsFromBase } = provider.adapter;
    let isOwn = assetsNeedKey === true || assetsFromBase === true;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      isOwn &&= next.origin === new URL(provider.base).origin;
      const reply = await this.get(next, provider, isOwn, terms);
      if (!redirects.has(reply.statusCode)) return this.accept(reply, isDataAt(next, provider));
      const location = textOf(reply.headers['location']);
      discardBody(reply.body);
      if (!URL.canParse(location, next.href))
        throw new NotCopied('redirects', 'a redirect without an address');
      next = new URL(location, next);
    }
    throw new NotCopied('redirects', `more than ${maxRedirects} redirects`);
  }

  private async get(
    url: URL,
    provider: BoundProvider,
    isOwn: boolean,
    terms: ResolveTerms,
  ): Promise<Dispatcher.ResponseData> {
    const dispatcher = isOwn ? this.agents.trusted : await this.agents.toAsset(url, terms);
    if (dispatcher === null || url.username !== '') {
      throw new NotCopied('refused_address', `${url.hostname} may not be called`);
    }
    const { adapter, secret } = provider;
    const call = { method: 'GET', url: url.href } as const;
    return request(adapter.assetsNeedKey ? credentialUrl(adapter, call, secret) : url, {
      method: 'GET',
      headers: {
        'accept-encoding': 'identity',
        // Mostly without our key, on the provider's own API too: a model may echo a caller's URL, and what only our key
        // opens is not for callers.
        ...(adapter.assetsNeedKey && credentialHeaders(adapter, call, secret, Date.now())),
      },
      dispatcher,
      signal: terms.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  private accept(reply: Dispatcher.ResponseData, mayBeData: boolean): Source {
    const trouble = this.troubleWith(reply, mayBeData);
    if (trouble === null) return { mediaType: mediaTypeOf(reply), body: reply.body };
    discardBody(reply.body);
    throw trouble;
  }

  private troubleWith(reply: Dispatcher.ResponseData, mayBeData: boolean): NotCopied | null {
    const { statusCode, headers } = reply;
    if (statusCode !== 200) return new NotCopied('status', `answered HTTP ${statusCode}`);
    // Encoded bodies would be stored compressed, and browsers could not display them.
    const encoding = textOf(headers['content-encoding']).toLowerCase();
    if (!['', 'identity'].includes(encoding)) return new NotCopied('encoding', `is encoded as ${encoding}`);
    const mediaType = mediaTypeOf(reply);
    const essence = essenceOf(mediaType);
    const isUnexpectedData = isJsonType(mediaType) && !essence.startsWith('model/') && !mayBeData;
    if (isUnexpectedData || !this.isAccepted(essence)) {
      return new NotCopied('media_type', `is said to be ${shortened(mediaType, 100)}`);
    }
    // The declared length may be wrong: the bytes are counted as well.
    const length = Number(headers['content-length'] ?? Number.NaN);
    if (length > this.settings.ASSET_MAX_BYTES)
      return new NotCopied('too_large', 'says that it is too large');
    if (length === 0) return new NotCopied('empty', 'says that it has no bytes');
    return null;
  }
}

/** JSON is an asset only where the URL says so: anywhere else it is what an API says in the place of a file. */
const isDataAt = ({ pathname }: URL, { adapter }: BoundProvider): boolean =>
  /\.json$/i.test(pathname) && !adapter.assetsNeedKey;

const textOf = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? (header[0] ?? '') : (header ?? '');

const mediaTypeOf = ({ headers }: Dispatcher.ResponseData): string =>
  textOf(headers['content-type']) || 'application/octet-stream';
