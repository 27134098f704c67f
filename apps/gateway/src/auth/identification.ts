import { SETTINGS } from '#infrastructure';
import { ApiKeyRepository } from '#persistence';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AccessTokens, clockToleranceS } from './access-tokens.js';
import type { Caller } from './caller.js';
import type { Credential } from './credential.js';
import type { AuthSettings } from './settings.js';

/** Maximum number of cached valid credentials, and of cached rejected ones. */
const maxCached = 10_000;

/**
 * How long a rejection is cached: repeated guesses cost one lookup, and a key that was tried before it was created works
 * within two seconds.
 */
export const refusedCacheMs = 2_000;

interface Found {
  caller: Caller;
  /** The entry must not be cached beyond this time. */
  untilMs: number;
}

/**
 * Finds the caller of a credential. Valid credentials are cached until they change, for at most 30 seconds.
 * Rejected ones are cached separately, so that guesses cannot evict valid ones.
 */
@Injectable()
export class Identification {
  private readonly known: LRUCache<string, Caller>;
  private readonly refused: LRUCache<string, true>;
  private readonly used = new Set<string>();
  private readonly lookUps = new Map<string, Promise<Caller | null>>();
  /** Number of changes so far. A lookup that began before a change is not cached after it. */
  private changes = 0;

  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly accessTokens: AccessTokens,
    @Inject(SETTINGS) private readonly settings: AuthSettings,
    /** A monotonic clock in milliseconds, so that setting the system time never extends a cache entry. */
    @Optional() private readonly now: () => number = () => performance.now(),
  ) {
    const options = { max: maxCached, perf: { now }, ttlResolution: 0 };
    this.known = new LRUCache({ ...options, ttl: settings.AUTH_CACHE_MS });
    this.refused = new LRUCache({ ...options, ttl: refusedCacheMs });
  }

  /** Returns null for any unusable credential. */
  async find(credential: Credential): Promise<Caller | null> {
    const caller = await this.findCaller(credential);
    if (caller !== null && caller.keyId !== null) this.used.add(caller.keyId);
    return caller;
  }

  /** The ids of the keys that were found since the last call of this method. */
  takeUsed(): string[] {
    const used = [...this.used];
    this.used.clear();
    return used;
  }

  private async findCaller(credential: Credential): Promise<Caller | null> {
    // The kind is part of the cache key, because a verified token is not an API key.
    const name = `${credential.kind}:${credential.text}`;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    if (this.refused.has(name)) return null;
    // Concurrent calls with a new credential share one lookup.
    const shared = this.lookUps.get(name);
    if (shared !== undefined) return shared;
    const lookUp = this.lookUp(credential, name).finally(() => this.lookUps.delete(name));
    this.lookUps.set(name, lookUp);
    return lookUp;
  }

  /**
   * Call this when a credential of the workspace may have changed. Without a workspace, it forgets every valid
   * credential.
   */
  forget(workspaceId?: string): void {
    this.changes += 1;
    this.lookUps.clear();
    for (const [name, caller] of this.known.entries()) {
      if (workspaceId === undefined || caller.workspaceId === workspaceId) this.known.delete(name);
    }
  }

  private async lookUp(credential: Credential, name: string): Promise<Caller | null> {
    const { changes } = this;
    const found = await (credential.kind === 'api_key'
      ? this.byApiKey(credential.text)
      : this.byAccessToken(credential.text));
    if (found === null) {
      this.refused.set(name, true);
      return null;
    }
    // The cache keeps an entry through the last millisecond of its TTL, and treats a TTL of 0 as no limit.
    const ttl = Math.min(Math.ceil(found.untilMs - this.now()) - 1, this.settings.AUTH_CACHE_MS);
    if (ttl > 0 && changes === this.changes) this.known.set(name, found.caller, { ttl });
    return found.caller;
  }

  private async byApiKey(key: string): Promise<Found | null> {
    const startedMs = this.now();
    const found = await this.keys.byApiKey(key);
    if (found === null) return null;
    const { remainingMs, ...row } = found;
    // Counted from before the lookup, so that the cache entry never outlives the key, even if clocks differ.
    const untilMs = startedMs + (remainingMs ?? Infinity);
    return { caller: { ...row, credential: `key:${row.keyId}`, token: null }, untilMs };
  }

  private async byAccessToken(text: string): Promise<Found | null> {
    const token = await this.accessTokens.verify(text);
    if (token === null) return null;
    const workspace = await this.keys.byWorkspace(token.workspaceId);
    if (workspace === null) return null;
    const { subject, scopes, expiresAtMs } = token;
    const caller = {
      ...workspace,
      keyId: null,
      tags: null,
      scopes,
      credential: `token:${subject}`,
      token: { subject, expiresAt: new Date(expiresAtMs) },
    };
    return { caller, untilMs: this.now() + expiresAtMs + clockToleranceS * 1000 - Date.now() };
  }
}
