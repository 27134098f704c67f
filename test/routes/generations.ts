import { scopes } from '#schemas';
import { SignJWT } from 'jose';
import { jwtSecret } from './gateways.js';

export const generations = ['v1', 'v2'] as const;

/** A header that works on both generations. An API key sent with it takes precedence on v2. */
export async function bearer(
  workspaceId: string,
  scope = scopes.join(' '),
  secret = jwtSecret,
): Promise<{ authorization: string }> {
  const token = await new SignJWT({ workspace: workspaceId, scope, sub: 'tester' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('model-router')
    .setAudience('model-router')
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(secret));
  return { authorization: `Bearer ${token}` };
}

const file = '/v2/files/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const run = '/v2/models/bfl/flux-2-pro/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

/** Method and path of every router route, for a model that exists. */
export const routerRoutes: [method: string, path: string][] = [
  ...generations.flatMap((generation): [string, string][] => [
    ['GET', `/${generation}/models`],
    ['GET', `/${generation}/models/bfl/flux-2-pro`],
    ['GET', `/${generation}/models/bfl/flux-2-pro/openapi.json`],
    ['POST', `/${generation}/models/bfl/flux-2-pro`],
  ]),
  ['POST', '/v2/models/bfl/flux-2-pro/requests'],
  ['POST', '/v2/models/bfl/flux-2-pro/cost'],
  ['GET', run],
  ['GET', `${run}/status`],
  ['GET', `${run}/status/stream`],
  ['PUT', `${run}/cancel`],
  ['GET', '/v2/files'],
  ['POST', '/v2/files'],
  ['GET', file],
  ['DELETE', file],
  ['GET', '/v2/clients/model-router-client.tgz'],
  ['GET', '/v2/requests'],
  ['GET', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['DELETE', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['GET', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/input'],
  ['GET', '/v2/usage'],
  ['GET', '/v2/ledger'],
  ['GET', '/v2/workspace'],
  ['POST', '/v2/sign-in/links'],
  ['GET', '/v2/webhooks/secret'],
  ['POST', '/v2/webhooks/secret'],
  ['GET', '/v2/webhooks/deliveries'],
  ['POST', '/v2/webhooks/deliveries/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/redeliver'],
  ['GET', '/v2/keys'],
  ['POST', '/v2/keys'],
  ['DELETE', '/v2/keys/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['GET', '/v2/operator/workspaces'],
  ['GET', '/v2/operator/workspaces/nobody'],
  ['PATCH', '/v2/operator/workspaces/nobody'],
  ['GET', '/v2/operator/providers'],
  ['GET', '/v2/operator/providers/bfl'],
  ['POST', '/v2/operator/providers/nobody/pause'],
  ['DELETE', '/v2/operator/providers/nobody/pause'],
  ['GET', '/v2/operator/queues'],
  ['GET', '/v2/operator/runs'],
];
