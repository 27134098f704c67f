import type { HttpCall, ProviderAdapter } from './contract.js';

/**
 * The header fields that authenticate `call`, none when there is no secret or when the call goes to an origin
 * outside `credentialOrigins`: a partner's reply may name any host, and our key must not follow it there.
 */
export function credentialHeaders(
  adapter: Pick<ProviderAdapter, 'credential' | 'credentialOrigins'>,
  call: HttpCall,
  secret: string | undefined,
  nowMs: number,
): Record<string, string> {
  if (secret === undefined) return {};
  const { origin, username } = new URL(call.url);
  const trusted = username === '' && adapter.credentialOrigins.some((pattern) => pattern.test(origin));
  return trusted ? adapter.credential(call, secret, nowMs) : {};
}

const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * Whether a URL out of a partner's reply may be called: it names no user, and its origin is one of the
 * partner's. Where the base itself is plain http, as a simulator's is, any plain http origin will do. Whether
 * the call may carry our key is asked again when it is made.
 */
export function isCallableUrl(text: string, base: string, origins: readonly RegExp[]): boolean {
  const url = parse(text);
  if (url === undefined || url.username !== '' || url.password !== '') return false;
  if (origins.some((origin) => origin.test(url.origin))) return true;
  return url.protocol === 'http:' && parse(base)?.protocol === 'http:';
}

/** A pattern that matches the origin of `url` and nothing else. */
export function exactOrigin(url: string): RegExp {
  return new RegExp(`^${new URL(url).origin.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);
}
