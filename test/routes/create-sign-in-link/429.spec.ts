import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

/** Inserts keys as if callers of the workspace had made them. */
const fill = (workspaceId: string, columns: string) =>
  gateway().database.work.query(
    `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at, revoked_at)
      SELECT ${columns}, $1, 'filler', gen_random_uuid()::text, '', '{}', NULL,
        CASE WHEN $2 THEN router_now() END FROM generate_series(1, 999)`,
    [workspaceId, columns.includes('v7_floor')],
  );
const today = `overlay(gen_random_uuid()::text PLACING left(v7_floor(router_now())::text, 14) FROM 1)::uuid`;

it.each([
  ['as many keys as may work', 'gen_random_uuid()', 'concurrency_limit_exceeded', 'limit of 1000 keys'],
  ['as many as may be made in a day', today, 'rate_limited', 'within 24 hours'],
])('refuses a link, or a key, of a workspace with %s', async (_what, id, bucket, detail) => {
  const { caller, workspace } = await gateway().caller({}, ['manage', 'run']);
  await fill(workspace.id, id);
  for (const [path, body] of [
    ['/v2/sign-in/links', undefined],
    ['/v2/keys', '{"name":"a","scopes":["run"]}'],
  ] as const) {
    const answer = await caller.call('POST', path, body === undefined ? {} : { body });
    expect([answer.status, answer.json()]).toEqual([
      429,
      { detail: expect.stringContaining(detail), error_type: bucket },
    ]);
  }
});
