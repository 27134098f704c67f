import type { RouteGateway } from '../gateways.js';

export const bearerOf = (text: string): { authorization: string } => ({ authorization: `Bearer ${text}` });

/** Exchanges a code, as the console does. */
export async function signIn(
  gateway: RouteGateway,
  code: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${gateway.url}/v2/sign-in`, { method: 'POST', headers: bearerOf(code) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
