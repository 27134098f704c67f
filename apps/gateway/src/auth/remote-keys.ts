import { RouterError } from '#errors';
import type { Log } from '#observability';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from 'jose';
import type { AuthSettings } from './settings.js';

/** Time limit for fetching the keys; callers wait for it. */
const fetchMs = 5_000;
/** How long known keys go on verifying while they cannot be fetched again. */
const maxStaleMs = 86_400_000;

/**
 * The public keys that an identity provider publishes as a JSON Web Key Set. The set is fetched when it is
 * first needed, when it has aged, and for a key id that it lacks, but at most once a cooldown, whether the
 * fetch succeeds or not. While the endpoint is away, keys that are known go on verifying.
 */
export class RemoteKeys {
  private readonly published: ReturnType<typeof createRemoteJWKSet>;
  private fetchedAtMs = -Infinity;
  private attemptedAtMs = -Infinity;
  private failing = false;
  private underWay: Promise<void> | undefined;

  constructor(
    url: string,
    private readonly settings: AuthSettings,
    private readonly log: Log,
    private readonly now: () => number = () => performance.now(),
    request: FetchImplementation = fetchBounded,
  ) {
    this.published = createRemoteJWKSet(new URL(url), {
      timeoutDuration: fetchMs,
      // When to fetch is decided here: on its own the set would drop its keys with the first fetch that
      // fails after they have aged, and would fetch for every unknown key id as long as fetches fail.
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      [customFetch]: request,
    });
  }

  /**
   * The key that a token's header names. Throws `JWKSNoMatchingKey` when it is not published, and
   * `service_unavailable` when no key is available at all: then the token can be neither accepted nor refused.
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.ageMs() >= this.settings.JWT_JWKS_MAX_AGE_SECONDS * 1000) await this.renewAged();
    if (!this.usable()) {
      throw new RouterError('service_unavailable', 'Access tokens cannot be verified at the moment.', {
        internal: 'the key set of access tokens is not at hand',
      });
    }
    try {
      return await this.published(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.renew();
      return this.published(header, token);
    }
  };

  /** A removed key ends with its age, so the renewal is waited for; not while the endpoint is known to be away. */
  private async renewAged(): Promise<void> {
    const renewal = this.renew();
    if (!this.failing || !this.usable()) await renewal;
  }

  /** Resolves when the fetch that is under way, or due, has ended; never rejects. */
  private renew(): Promise<void> {
    if (this.underWay !== undefined) return this.underWay;
    const nowMs = this.now();
    if (nowMs - this.attemptedAtMs < this.settings.JWT_JWKS_COOLDOWN_SECONDS * 1000) return Promise.resolve();
    this.attemptedAtMs = nowMs;
    this.underWay = this.fetch(nowMs).finally(() => (this.underWay = undefined));
    return this.underWay;
  }

  private async fetch(startedAtMs: number): Promise<void> {
    try {
      await this.published.reload();
      this.fetchedAtMs = startedAtMs;
      this.failing = false;
    } catch (error) {
      this.failing = true;
      this.log.warn({ error, age_ms: this.ageMs() }, 'the keys of access tokens could not be fetched');
    }
  }

  private usable(): boolean {
    return this.ageMs() < maxStaleMs;
  }

  private ageMs(): number {
    return this.now() - this.fetchedAtMs;
  }
}

const maxDocumentBytes = 1024 * 1024;

/** Fetches a small document: a larger body is given up, and a body that is not wanted is not read. */
export async function fetchBounded(...[url, options]: Parameters<FetchImplementation>): Promise<Response> {
  const response = await fetch(url, options);
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    return new Response(null, { status: response.status });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (bytes > maxDocumentBytes) throw new Error(`the document is larger than ${maxDocumentBytes} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks));
}
