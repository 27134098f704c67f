import { type Ending, RetentionRepository, retentionSettings } from '#persistence';
import { readSettings } from '#schemas';
import { expect, it } from '@jest/globals';
import { completedEarlier } from '../../harness/ageing.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests', 'manage'];
const model = 'bfl/flux-2-pro';
const daySeconds = 86_400;

const ended = (body: string): Ending => ({
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from(body),
});

/** A run whose output has a link to a copied file that has expired. */
async function kept() {
  const { caller, workspace } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, '{"prompt":"kept"}');
  const key = `runs/${run.requestId}/assets/0.png`;
  const body = `{"sample":"https://old.example/assets/${key}?expires=1&signature=x","other":"https://provider.example/0.png?x=1"}`;
  await gateway().finish(run, ended(body));
  await gateway().database.work.query(
    `INSERT INTO stored_object (key, owner_id, delete_at) VALUES ($1, $2, 'infinity')`,
    [key, run.requestId],
  );
  const keep = (method: 'PUT' | 'DELETE' = 'PUT') =>
    caller.call(method, `/v2/requests/${run.requestId}/kept`);
  expect((await keep()).status).toBe(204);
  return { caller, workspaceId: workspace.id, run, key, body, keep };
}

/** A day later, after a round of retention. */
async function expire({ requestId, ...run }: Awaited<ReturnType<typeof kept>>['run']): Promise<void> {
  await completedEarlier(gateway().databaseUrl, { requestId, ...run }, daySeconds + 60);
  const retention = new RetentionRepository(gateway().database, readSettings(retentionSettings, {}));
  await retention.releaseObjects();
  await gateway().database.work.query(
    `SELECT age_out($1, 5000, 1000000, v7_floor(router_now() + interval '1 hour'))`,
    [daySeconds],
  );
}

const objectOf = async (key: string) =>
  (
    await gateway().database.work.query<{ due: boolean; workspace_id: string | null }>(
      `SELECT delete_at < 'infinity' AS due, workspace_id FROM stored_object WHERE key = $1`,
      [key],
    )
  )[0];

it('a kept run survives its expiry: input, result with fresh links, and files', async () => {
  const { caller, workspaceId, run, key, body, keep } = await kept();
  expect((await caller.collect(run)).bytes.toString()).toBe(body);
  await expire(run);
  expect(await gateway().database.work.query('SELECT FROM run WHERE id = $1', [run.requestId])).toEqual([]);
  const collected = await caller.collect(run);
  const output = collected.json() as { sample: string; other: string };
  expect(collected.headers.get('x-service-cost-cents')).not.toBeNull();
  expect(output.other).toBe('https://provider.example/0.png?x=1');
  expect(output.sample).toMatch(new RegExp(`/assets/${key}\\?expires=\\d{10}&signature=`));
  expect(output.sample).not.toContain('old.example');
  expect((await caller.status(run)).json()).toMatchObject({ status: 'COMPLETED' });
  expect((await caller.call('GET', `/v2/requests/${run.requestId}/input`)).bytes.toString()).toBe(run.body);
  const listed = (await caller.call('GET', '/v2/requests?kept=true')).json()['data'];
  expect(listed).toMatchObject([{ request_id: run.requestId, kept: true, result_available: true }]);
  expect(listed).toEqual([expect.not.objectContaining({ expires_at: expect.anything() })]);
  expect(await objectOf(key)).toEqual({ due: false, workspace_id: workspaceId });
  expect((await keep()).status).toBe(204);
});

it('a run that is no longer kept expires, at once if its time has passed', async () => {
  const { caller, run, key, keep } = await kept();
  expect((await keep('DELETE')).status).toBe(204);
  expect(await objectOf(key)).toEqual({ due: false, workspace_id: null });
  const found = (await caller.call('GET', `/v2/requests/${run.requestId}`)).json();
  const { completed_at: end, expires_at: expiry } = found as { completed_at: string; expires_at: string };
  expect(Date.parse(expiry) - Date.parse(end)).toBe(daySeconds * 1000);
  expect((await keep()).status).toBe(204);
  await expire(run);
  expect((await keep('DELETE')).status).toBe(204);
  expect(await objectOf(key)).toEqual({ due: true, workspace_id: null });
  expect((await caller.collect(run)).status).toBe(410);
  expect((await keep()).status).toBe(410);
  expect((await caller.call('GET', '/v2/requests?kept=true')).json()['data']).toEqual([]);
});

it.each(['before', 'after'])('a kept run is deleted like any other, %s its expiry', async (when) => {
  const { caller, run, key } = await kept();
  if (when === 'after') await expire(run);
  expect((await caller.call('DELETE', `/v2/requests/${run.requestId}`)).status).toBe(204);
  expect((await caller.collect(run)).status).toBe(410);
  expect((await caller.call('GET', `/v2/requests/${run.requestId}/input`)).status).toBe(410);
  expect(await objectOf(key)).toBeUndefined();
});

it('refuses what cannot be kept, and counts kept files in the limits of files', async () => {
  const { caller, workspaceId, run } = await kept();
  const put = (id: string) => caller.call('PUT', `/v2/requests/${id}/kept`);
  const set = (change: string) =>
    gateway().database.work.query(`UPDATE workspace SET ${change} WHERE id = $1`, [workspaceId]);
  const live = await caller.submit(model, '{"prompt":"x"}');
  expect((await put(live.requestId)).status).toBe(409);
  await gateway().finish(live, ended('{}'));
  await set('file_limit = 2');
  expect([(await put(live.requestId)).status, (await put(live.requestId)).bucket]).toEqual([
    429,
    'concurrency_limit_exceeded',
  ]);
  await set('file_limit = 1000, result_retention_seconds = 3600');
  expect((await put(live.requestId)).status).toBe(409);
  const stranger = await gateway().caller({}, scopes);
  for (const method of ['PUT', 'DELETE'] as const)
    expect((await stranger.caller.call(method, `/v2/requests/${run.requestId}/kept`)).status).toBe(404);
  const reader = await gateway().caller({}, ['run', 'requests']);
  expect((await reader.caller.call('PUT', `/v2/requests/${run.requestId}/kept`)).status).toBe(403);
});
