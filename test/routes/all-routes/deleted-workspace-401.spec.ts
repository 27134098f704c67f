import { expect, it } from '@jest/globals';
import { bearer, routerRoutes } from '../generations.js';
import { gatewayForFile } from '../gateways.js';

const gateway = gatewayForFile({ AUTH_CACHE_MS: '5000' });

/** The routes that need the row of the workspace; the others find nothing that was its own. */
const refusing = new Set([
  'POST /v1/models/bfl/flux-2-pro',
  'POST /v2/models/bfl/flux-2-pro',
  'POST /v2/models/bfl/flux-2-pro/requests',
  'POST /v2/models/bfl/flux-2-pro/cost',
  'POST /v2/files',
  'POST /v2/keys',
  'POST /v2/sign-in/links',
  'GET /v2/webhooks/secret',
  'POST /v2/webhooks/secret',
  'GET /v2/workspace',
]);

/** The access token of a workspace that is deleted without a notice, so that the gateway has it in its cache. */
async function deletedCaller() {
  const { workspace } = await gateway().caller();
  const headers: Record<string, string> = await bearer(workspace.id);
  expect((await fetch(`${gateway().url}/v2/workspace`, { headers })).status).toBe(200);
  await gateway().database.atOnce(async (database) => {
    await database.write('SET LOCAL session_replication_role = replica');
    await database.write('DELETE FROM api_key WHERE workspace_id = $1', [workspace.id]);
    await database.write('DELETE FROM workspace WHERE id = $1', [workspace.id]);
  });
  return headers;
}

it.each(routerRoutes)('%s %s does not fail for a workspace that was deleted', async (method, path) => {
  const headers = await deletedCaller();
  const input = path === '/v2/keys' ? '{"name":"a","scopes":["run"]}' : '{"prompt":"x"}';
  const body = method === 'POST' ? input : undefined;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(`${gateway().url}${path}`, { method, headers, body });
  const bucket = answer.headers.get('x-service-error-type');
  await answer.arrayBuffer();
  if (refusing.has(`${method} ${path}`)) expect([answer.status, bucket]).toEqual([401, 'unauthorized']);
  else expect([200, 400, 404]).toContain(answer.status);
});
