import type { ApiKeyRepository } from '#persistence';
import type { AccessTokens } from './access-tokens.js';
import type { Caller } from './caller.js';
import type { Credential } from './credential.js';
import { ExpiringMap } from './expiring-map.js';
import type { AuthSettings } from './settings.js';

interface Found {
  caller: Caller;
  /** Not believed longer than this, whatever the cache allows. */
  untilMs: number;
}

/**
 * Finds the caller of a credential. Known ones are remembered for seconds, so that a revoked key ends soon;
 * refused ones are remembered apart, so that guessing cannot push out the known ones.
 */
export class Identification {
  private readonly known: ExpiringMap<Caller>;
  private readonly refused: ExpiringMap<true>;
  private readonly underWay = new Map<string, Promise<Caller | null>>();

  constructor(
    private readonly callers: ApiKeyRepository,
    private readonly accessTokens: AccessTokens,
    private readonly settings: AuthSettings,
    private readonly now: () => number = Date.now,
  ) {
    this.known = new ExpiringMap(settings.AUTH_CACHE_ENTRIES);
    this.refused = new ExpiringMap(settings.AUTH_CACHE_ENTRIES);
  }

  /** Null for a credential that is not usable, whatever the reason. */
  async find(credential: Credential): Promise<Caller | null> {
    // The kind is part of the name: a token that was verified is still no API key.
    const name = `${credential.kind}:${credential.text}`;
    const remembered = this.remembered(name);
    if (remembered !== undefined) return remembered;
    // Calls that arrive together with a new credential share one look-up.
    const asked = this.underWay.get(name);
    if (asked !== undefined) return asked;
    const answer = this.lookUp(credential, name).finally(() => this.underWay.delete(name));
    this.underWay.set(name, answer);
    return answer;
  }

  /** Undefined when the credential has to be looked up. */
  private remembered(name: string): Caller | null | undefined {
    const nowMs = this.now();
    return this.known.get(name, nowMs) ?? (this.refused.get(name, nowMs) ? null : undefined);
  }

  private async lookUp(credential: Credential, name: string): Promise<Caller | null> {
    const found = await (credential.kind === 'api_key'
      ? this.byApiKey(credential.text)
      : this.byAccessToken(credential.text));
    const nowMs = this.now();
    if (found === null) {
      this.refused.set(name, true, nowMs + this.settings.AUTH_REFUSED_CACHE_MS);
      return null;
    }
    this.known.set(name, found.caller, Math.min(found.untilMs, nowMs + this.settings.AUTH_CACHE_MS));
    return found.caller;
  }

  private async byApiKey(key: string): Promise<Found | null> {
    const row = await this.callers.byApiKey(key);
    return row && { caller: { ...row, credential: `key:${row.keyId}` }, untilMs: Infinity };
  }

  private async byAccessToken(text: string): Promise<Found | null> {
    const token = await this.accessTokens.verify(text);
    if (token === null) return null;
    const workspace = await this.callers.byWorkspace(token.workspaceId);
    if (workspace === null) return null;
    const caller = { ...workspace, scopes: token.scopes, credential: `token:${token.subject}` };
    return { caller, untilMs: token.expiresAtMs + this.settings.JWT_CLOCK_TOLERANCE_S * 1000 };
  }
}
