import { SETTINGS } from '#infrastructure';
import type { HttpReply, KeyedProvider } from '#providers';
import { essenceOf, isJsonType, shortened } from '#schemas';
import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import picomatch from 'picomatch';
import { request } from 'undici';
import { requestIdOf } from '../attempts/reading.js';
import { CarriedSecrets } from '../calls/carried-secrets.js';
import { OutboundAgents } from '../calls/outbound-agents.js';
import { discardBody } from '../calls/provider-client.js';
import type { ResolveTerms } from '../resolver/name-resolver.js';
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
    /** Facts of the reply, if there was one. */
    readonly reply: { status?: number; requestId?: string | undefined } = {},
  ) {
    super(message);
    this.name = 'NotCopied';
  }
}

interface Source {
  mediaType: string;
  body: Readable;
}

type Reply = Pick<HttpReply, 'status' | 'headers'> & { body: Readable };

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 3;

/**
 * Opens URLs from providers' replies, which a caller may have influenced. The provider's own origin is
 * trusted if its declaration says that it hosts assets, but never as the target of a redirect from another
 * origin: on a private address it may serve things that callers must not see. Any other origin is called only
 * if it is public or allowed.
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

  /** Rejects with `NotCopied` or with the connection's error. The signal also aborts the body. */
  async open(url: URL, provider: KeyedProvider, terms: ResolveTerms): Promise<Source> {
    let next = url;
    const { assetsNeedKey, assetsFromBase } = provider.adapter;
    let isOwn = assetsNeedKey === true || assetsFromBase === true;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      isOwn &&= next.origin === new URL(provider.base).origin;
      const reply = await this.get(next, provider, isOwn, terms);
      if (!redirects.has(reply.status)) return this.accept(reply, isDataAt(next, provider));
      const location = reply.headers['location'] ?? '';
      discardBody(reply.body);
      if (!URL.canParse(location, next.href))
        throw new NotCopied('redirects', 'redirects without a valid location');
      next = new URL(location, next);
    }
    throw new NotCopied('redirects', `redirects more than ${maxRedirects} times`);
  }

  private async get(url: URL, provider: KeyedProvider, isOwn: boolean, terms: ResolveTerms): Promise<Reply> {
    const dispatcher = isOwn ? this.agents.trusted : await this.agents.toAsset(url, terms);
    if (dispatcher === null || url.username !== '') {
      throw new NotCopied('refused_address', `${url.hostname} may not be called`);
    }
    const { adapter, key } = provider;
    const secrets = new CarriedSecrets(key?.secret);
    // Most assets are fetched without our key, even from the provider's own API: a model may echo a caller's URL, and
    // callers must not reach what only our key can open.
    const secret = adapter.assetsNeedKey ? key?.secret : undefined;
    const credential = secrets.authenticate(adapter, { method: 'GET', url: url.href }, secret);
    const reply = await request(credential.url, {
      method: 'GET',
      headers: { 'accept-encoding': 'identity', ...credential.headers },
      dispatcher,
      signal: terms.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return {
      status: reply.statusCode,
      headers: secrets.cleanedFields(reply.headers),
      body: secrets.cleaned(reply.body),
    };
  }

  private accept(reply: Reply, mayBeData: boolean): Source {
    const trouble = this.troubleWith(reply, mayBeData);
    if (trouble === null) return { mediaType: mediaTypeOf(reply), body: reply.body };
    discardBody(reply.body);
    throw trouble;
  }

  private troubleWith(reply: Reply, mayBeData: boolean): NotCopied | null {
    const { status, headers } = reply;
    const facts = { status, requestId: requestIdOf(headers) };
    if (status !== 200) return new NotCopied('status', `answered HTTP ${status}`, facts);
    // Encoded bodies would be stored compressed, and browsers could not display them.
    const encoding = (headers['content-encoding'] ?? '').toLowerCase();
    if (!['', 'identity'].includes(encoding))
      return new NotCopied('encoding', `is encoded as ${encoding}`, facts);
    const mediaType = mediaTypeOf(reply);
    const essence = essenceOf(mediaType);
    const isUnexpectedData = isJsonType(mediaType) && !essence.startsWith('model/') && !mayBeData;
    if (isUnexpectedData || !this.isAccepted(essence)) {
      return new NotCopied('media_type', `has media type ${shortened(mediaType, 100)}`, facts);
    }
    // The declared length may be wrong, so the bytes are counted as well.
    const length = Number(headers['content-length'] ?? Number.NaN);
    if (length > this.settings.ASSET_MAX_BYTES)
      return new NotCopied('too_large', 'declares a length above the limit', facts);
    if (length === 0) return new NotCopied('empty', 'declares a length of 0', facts);
    return null;
  }
}

/** JSON is an asset only if the URL ends in `.json`. Otherwise it is an API's answer in place of the file. */
const isDataAt = ({ pathname }: URL, { adapter }: KeyedProvider): boolean =>
  /\.json$/i.test(pathname) && !adapter.assetsNeedKey;

const mediaTypeOf = ({ headers }: Reply): string => headers['content-type'] || 'application/octet-stream';
