import type { HttpCall, ProviderAdapter } from './contract.js';

/**
 * The header fields that authenticate `call`. Empty without a secret, and for origins outside `credentialOrigins`: a
 * provider's reply may name any host, and our key must not be sent there.
 */
export function credentialHeaders(
  adapter: Pick<ProviderAdapter, 'credential' | 'credentialOrigins'>,
  call: HttpCall,
  secret: string | undefined,
  nowMs: number,
): Record<string, string> {
  return secret !== undefined && mayHaveKey(adapter, call) ? adapter.credential(call, secret, nowMs) : {};
}

/** The URL of `call`, with the key in its query if the provider takes it there and the origin is trusted. */
export function credentialUrl(
  adapter: Pick<ProviderAdapter, 'credentialQuery' | 'credentialOrigins'>,
  call: HttpCall,
  secret: string | undefined,
): string {
  const query = adapter.credentialQuery;
  if (query === undefined || secret === undefined || !mayHaveKey(adapter, call)) return call.url;
  const url = new URL(call.url);
  for (const [name, value] of Object.entries(query(secret))) url.searchParams.set(name, value);
  return url.href;
}

function mayHaveKey(
  { credentialOrigins }: Pick<ProviderAdapter, 'credentialOrigins'>,
  { url }: HttpCall,
): boolean {
  const { origin, username } = new URL(url);
  return username === '' && credentialOrigins.some((pattern) => pattern.test(origin));
}

const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/**
 * Whether a URL from a provider's reply may be called: it has no user name, and its origin is one of the provider's. If
 * the base is plain http, like a simulator's, any plain http origin is allowed. Whether the call may carry our key is
 * checked again when it is made.
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
