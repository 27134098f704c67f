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
