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
/** How long known keys stay in use while they cannot be fetched again. */
const maxStaleMs = 86_400_000;

/**
 * The public keys that an identity provider publishes as a JSON Web Key Set. The set is fetched on first use,
 * when it has aged, and for an unknown key id, but at most once per cooldown, whether or not the fetch
 * succeeds. While the endpoint is unreachable, known keys stay in use.
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
      // This class decides when to fetch. Left to itself, the set would drop its keys with the first fetch that fails
      // after they have aged, and would fetch for every unknown key id while fetches fail.
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      [customFetch]: request,
    });
  }

  /**
   * The key that a token's header names. Throws `JWKSNoMatchingKey` when it is not published, and
   * `service_unavailable` when no keys are available at all, because the token can then be neither accepted
   * nor rejected.
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.ageMs() >= this.settings.JWT_JWKS_MAX_AGE_SECONDS * 1000) await this.renewAged();
    if (!this.usable()) {
      throw new RouterError(
        'service_unavailable',
        'Access tokens cannot be verified at the moment; retry later.',
        {
          internal: 'no usable key set for access tokens',
        },
      );
    }
    try {
      return await this.published(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.renew();
      return this.published(header, token);
    }
  };

  /**
   * Waits for the renewal, so that a removed key stops working when the set ages, but not while the endpoint
   * is known to fail.
   */
  private async renewAged(): Promise<void> {
    const renewal = this.renew();
    if (!this.failing || !this.usable()) await renewal;
  }

  /** Resolves when the fetch in flight, or the one that is now due, has finished. Never rejects. */
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
      this.log.warn({ error, age_ms: this.ageMs() }, 'could not fetch the public keys of access tokens');
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

/** Fetches a small document. Fails on a larger body, and does not read the body of a failed response. */
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
