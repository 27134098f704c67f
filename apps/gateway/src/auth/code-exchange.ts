import { ApiKeyRepository, type KeyRow } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { refusedCacheMs } from './identification.js';

const maxRefused = 10_000;

/**
 * Exchanges the code of a sign-in link for the key of a session. The route needs no credential, so codes are
 * looked up on the connections for reads first, and unusable ones are cached: only a valid code reaches the
 * connections that admissions use.
 */
@Injectable()
export class CodeExchange {
  private readonly refused = new LRUCache<string, true>({ max: maxRefused, ttl: refusedCacheMs });

  constructor(
    @Inject(ApiKeyRepository) private readonly keys: Pick<ApiKeyRepository, 'isCode' | 'exchange'>,
  ) {}

  /** Null for a code that is unknown, used or expired, or whose creator has expired or been revoked. */
  async exchange(code: string): Promise<{ key: string; row: KeyRow } | null> {
    if (this.refused.has(code)) return null;
    const exchanged = (await this.keys.isCode(code)) ? await this.keys.exchange(code) : null;
    if (exchanged === null) this.refused.set(code, true);
    return exchanged;
  }
}
