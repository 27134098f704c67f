import { expect, it } from '@jest/globals';
import { bearer, routerRoutes } from '../generations.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile({ AUTH_CACHE_MS: '5000' });

/**
 * The access token of a workspace that was deleted without a notification, so the gateway still has it in its
 * cache.
 */
async function deletedCaller() {
  const { workspace } = await gateway().caller();
  const headers: Record<string, string> = await bearer(workspace.id);
  expect((await fetch(`${gateway().url}/v2/workspace`, { headers })).status).toBe(200);
  await gateway().database.transaction(async ({ query }) => {
    await query('SET LOCAL session_replication_role = replica');
    await query('DELETE FROM api_key WHERE workspace_id = $1', [workspace.id]);
    await query('DELETE FROM workspace WHERE id = $1', [workspace.id]);
  });
  return headers;
}

async function call([method, path]: [method: string, path: string]) {
  const headers = await deletedCaller();
  const input = path === '/v2/keys' ? '{"name":"a","scopes":["run"]}' : '{"prompt":"x"}';
  const body = method === 'POST' ? input : undefined;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(`${gateway().url}${path}`, { method, headers, body });
  await answer.arrayBuffer();
  return answer;
}

/** The routes that need the workspace's row; the others just find nothing. */
const refusing: [method: string, path: string][] = [
  ['POST', '/v1/models/bfl/flux-2-pro'],
  ['POST', '/v2/models/bfl/flux-2-pro'],
  ['POST', '/v2/models/bfl/flux-2-pro/requests'],
  ['POST', '/v2/models/bfl/flux-2-pro/cost'],
  ['POST', '/v2/files'],
  ['POST', '/v2/keys'],
  ['POST', '/v2/sign-in/links'],
  ['GET', '/v2/webhooks/secret'],
  ['POST', '/v2/webhooks/secret'],
  ['GET', '/v2/workspace'],
];

it.each(refusing)('%s %s rejects a caller whose workspace was deleted', async (...route) => {
  const answer = await call(route);
  expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([401, 'unauthorized']);
});

const names = new Set(refusing.map(String));

it.each(routerRoutes.filter((route) => !names.has(String(route))))(
  '%s %s does not fail for a caller whose workspace was deleted',
  async (...route) => {
    expect([200, 400, 404]).toContain((await call(route)).status);
  },
);
