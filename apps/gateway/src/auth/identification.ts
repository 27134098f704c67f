import { SETTINGS } from '#infrastructure';
import { ApiKeyRepository } from '#persistence';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AccessTokens, clockToleranceS } from './access-tokens.js';
import type { Caller } from './caller.js';
import type { Credential } from './credential.js';
import type { AuthSettings } from './settings.js';

/** Known credentials, and as many refused ones. */
const maxCached = 10_000;

/** Guesses in a row cost one look-up, and a credential that was just made is usable at once or after two seconds. */
export const refusedCacheMs = 2_000;

interface Found {
  caller: Caller;
  /** Not cached beyond this. */
  untilMs: number;
}

/**
 * Finds the caller of a credential. Known credentials are cached until they change, and for seconds at most; refused
 * ones are cached separately, so that guesses cannot evict known ones.
 */
@Injectable()
export class Identification {
  private readonly known: LRUCache<string, Caller>;
  private readonly refused: LRUCache<string, true>;
  private readonly lookUps = new Map<string, Promise<Caller | null>>();
  /** Counts the changes: what was looked up before one is not cached after it. */
  private changes = 0;

  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly accessTokens: AccessTokens,
    @Inject(SETTINGS) private readonly settings: AuthSettings,
    /** Milliseconds of a clock that nobody can set: what was cached never outlasts its time. */
    @Optional() private readonly now: () => number = () => performance.now(),
  ) {
    const options = { max: maxCached, perf: { now }, ttlResolution: 0 };
    this.known = new LRUCache({ ...options, ttl: settings.AUTH_CACHE_MS });
    this.refused = new LRUCache({ ...options, ttl: refusedCacheMs });
  }

  /** Null for a credential that is not usable, whatever the reason. */
  async find(credential: Credential): Promise<Caller | null> {
    // The kind is part of the name: a token that was verified is still no API key.
    const name = `${credential.kind}:${credential.text}`;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    if (this.refused.has(name)) return null;
    // Calls that arrive together with a new credential share one look-up.
    const shared = this.lookUps.get(name);
    if (shared !== undefined) return shared;
    const lookUp = this.lookUp(credential, name).finally(() => this.lookUps.delete(name));
    this.lookUps.set(name, lookUp);
    return lookUp;
  }

  /** To be called when a credential of the workspace may have changed; without one, any credential. */
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
    // The cache keeps an entry through the last millisecond of its time to live. To it 0 means no end.
    const ttl = Math.min(Math.ceil(found.untilMs - this.now()) - 1, this.settings.AUTH_CACHE_MS);
    if (ttl > 0 && changes === this.changes) this.known.set(name, found.caller, { ttl });
    return found.caller;
  }

  private async byApiKey(key: string): Promise<Found | null> {
    const askedMs = this.now();
    const found = await this.keys.byApiKey(key);
    if (found === null) return null;
    const { remainingMs, ...row } = found;
    // Counted from before the look-up, so that the cache never outlasts the key, whatever this machine's clock says.
    const untilMs = askedMs + (remainingMs ?? Infinity);
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
      scopes,
      credential: `token:${subject}`,
      token: { subject, expiresAt: new Date(expiresAtMs) },
    };
    return { caller, untilMs: this.now() + expiresAtMs + clockToleranceS * 1000 - Date.now() };
  }
}
