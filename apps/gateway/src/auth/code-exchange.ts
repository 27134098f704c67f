import { ApiKeyRepository, type KeyRow } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { refusedCacheMs } from './identification.js';

const maxRefused = 10_000;

/**
 * Exchanges the code of a sign-in link for the key of a session. Anybody may call it, so a code that is not usable is
 * looked up on the connections for reads and then remembered: only a code that works reaches those that admissions use.
 */
@Injectable()
export class CodeExchange {
  private readonly refused = new LRUCache<string, true>({ max: maxRefused, ttl: refusedCacheMs });

  constructor(
    @Inject(ApiKeyRepository) private readonly keys: Pick<ApiKeyRepository, 'isCode' | 'exchange'>,
  ) {}

  /** Null for a code that is unknown, used or expired, or whose maker has ended. */
  async exchange(code: string): Promise<{ key: string; row: KeyRow } | null> {
    if (this.refused.has(code)) return null;
    const exchanged = (await this.keys.isCode(code)) ? await this.keys.exchange(code) : null;
    if (exchanged === null) this.refused.set(code, true);
    return exchanged;
  }
}
